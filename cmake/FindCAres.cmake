# Finds c-ares, as CAres::CAres, by its header and its library, because not every system has CMake
# files for it.
find_path(CAres_INCLUDE_DIR ares.h)
find_library(CAres_LIBRARY cares)
mark_as_advanced(CAres_INCLUDE_DIR CAres_LIBRARY)
if(CAres_INCLUDE_DIR)
  file(STRINGS ${CAres_INCLUDE_DIR}/ares_version.h CAres_VERSION
    REGEX "^#define ARES_VERSION_STR \".*\"")
  string(REGEX REPLACE ".*\"(.*)\"" "\\1" CAres_VERSION "${CAres_VERSION}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAres
  REQUIRED_VARS CAres_LIBRARY CAres_INCLUDE_DIR VERSION_VAR CAres_VERSION)
if(CAres_FOUND AND NOT TARGET CAres::CAres)
  add_library(CAres::CAres UNKNOWN IMPORTED)
  set_target_properties(CAres::CAres PROPERTIES
    IMPORTED_LOCATION ${CAres_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${CAres_INCLUDE_DIR})
endif()
