# OpenBLAS, as OpenBLAS::OpenBLAS: no headers, the library alone. Of Debian's flavours the one that
# threads may use at once; the serial one may not be used so.
# With OpenBLAS_USE_STATIC_LIBS the archive, from which a linker takes the products and leaves LAPACK,
# which is most of OpenBLAS, and with it the Fortran library.
set(OpenBLAS_names openblas)
if(OpenBLAS_USE_STATIC_LIBS)
  set(OpenBLAS_names libopenblas.a)
endif()
find_library(OpenBLAS_LIBRARY NAMES ${OpenBLAS_names} PATH_SUFFIXES openblas-pthread openblas-serial)
mark_as_advanced(OpenBLAS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY)
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION ${OpenBLAS_LIBRARY})
endif()
