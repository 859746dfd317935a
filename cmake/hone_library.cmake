# hone_library(NAME [DEPS layer...] [LINK library...] [TEST_DEPS layer...]
#              [LABEL label]): one folder, one static library.
#
# Every *.cc of the folder belongs to it, except *_test.cc, which become NAME_test. DEPS are the
# layers it may include; the linker enforces the arrows of ARCHITECTURE.md. TEST_DEPS are what
# its tests need beyond that. LABEL is the tests'
# label in CTest: fast (no device, the default) or plugin (they open the CPU engine).
include(GoogleTest)

function(hone_library NAME)
  cmake_parse_arguments(ARG "" "LABEL" "DEPS;LINK;TEST_DEPS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")

  list(TRANSFORM ARG_DEPS PREPEND hone_ OUTPUT_VARIABLE layers)
  add_library(hone_${NAME} STATIC ${sources})
  target_include_directories(hone_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(hone_${NAME} PUBLIC ${layers} ${ARG_LINK})

  if(tests)
    add_executable(${NAME}_test ${tests})
    list(TRANSFORM ARG_TEST_DEPS PREPEND hone_ OUTPUT_VARIABLE test_layers)
    target_link_libraries(${NAME}_test PRIVATE hone_${NAME} ${test_layers} GTest::gtest GTest::gmock
                                               GTest::gtest_main)
    gtest_discover_tests(${NAME}_test TEST_PREFIX "${NAME}." WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                         DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 1800 LABELS ${ARG_LABEL})
  endif()
endfunction()
