# Debian's re2 comes without a CMake package.
find_library(re2_LIBRARY re2)
mark_as_advanced(re2_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(re2 REQUIRED_VARS re2_LIBRARY)
