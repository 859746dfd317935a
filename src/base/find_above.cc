#include "base/find_above.h"

#include <system_error>

namespace hone {

std::optional<std::filesystem::path> find_above(std::string_view name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (fs::path folder :
       {fs::read_symlink("/proc/self/exe", ignored).parent_path(), fs::current_path(ignored)}) {
    for (; !folder.empty(); folder = folder.parent_path()) {
      if (fs::exists(folder / name, ignored)) return folder / name;
      if (folder == folder.parent_path()) break;
    }
  }
  return std::nullopt;
}

}  // namespace hone
