# Debian's jemalloc comes without a CMake package.
find_library(jemalloc_LIBRARY jemalloc)
mark_as_advanced(jemalloc_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(jemalloc REQUIRED_VARS jemalloc_LIBRARY)
