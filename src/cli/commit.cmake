# Writes OUT, the source of kCommit, when the commit of ROOT has changed. Run at every build.
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${ROOT} describe --always --dirty=+ --exclude=*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[#include "cli/version.h"

namespace hone::cli {
const std::string_view kCommit = "@commit@";
}
]] @ONLY)
