# OpenBLAS in its serial flavour, as SerialOpenBLAS::SerialOpenBLAS: no headers, the library alone.
find_library(SerialOpenBLAS_LIBRARY openblas PATH_SUFFIXES openblas-serial)
mark_as_advanced(SerialOpenBLAS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SerialOpenBLAS REQUIRED_VARS SerialOpenBLAS_LIBRARY)
if(SerialOpenBLAS_FOUND AND NOT TARGET SerialOpenBLAS::SerialOpenBLAS)
  add_library(SerialOpenBLAS::SerialOpenBLAS UNKNOWN IMPORTED)
  set_target_properties(SerialOpenBLAS::SerialOpenBLAS PROPERTIES
    IMPORTED_LOCATION ${SerialOpenBLAS_LIBRARY})
endif()
