# Finds PMIx, as PMIx::PMIx, by its header and its library. Debian's pmix.pc is not used, because it
# would write a folder of this machine into the program.
# In Debian, the headers are in a folder of the library.
find_path(PMIx_INCLUDE_DIR pmix_server.h
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
find_library(PMIx_LIBRARY pmix)
mark_as_advanced(PMIx_INCLUDE_DIR PMIx_LIBRARY)
if(PMIx_INCLUDE_DIR)
  file(STRINGS ${PMIx_INCLUDE_DIR}/pmix_version.h PMIx_numbers
    REGEX "^#define PMIX_VERSION_(MAJOR|MINOR|RELEASE) ")
  string(REGEX REPLACE "[^;0-9]+" "" PMIx_VERSION "${PMIx_numbers}")
  string(REPLACE ";" "." PMIx_VERSION "${PMIx_VERSION}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PMIx
  REQUIRED_VARS PMIx_LIBRARY PMIx_INCLUDE_DIR VERSION_VAR PMIx_VERSION)
if(PMIx_FOUND AND NOT TARGET PMIx::PMIx)
  add_library(PMIx::PMIx UNKNOWN IMPORTED)
  set_target_properties(PMIx::PMIx PROPERTIES
    IMPORTED_LOCATION ${PMIx_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${PMIx_INCLUDE_DIR})
endif()
