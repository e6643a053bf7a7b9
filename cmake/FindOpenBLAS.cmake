# OpenBLAS, as OpenBLAS::OpenBLAS: no headers, the library alone. Of Debian's flavours the one that
# threads may use at once; the serial one may not be used so.
find_library(OpenBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread openblas-serial)
mark_as_advanced(OpenBLAS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY)
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION ${OpenBLAS_LIBRARY})
endif()
