# Finds OpenBLAS, as OpenBLAS::OpenBLAS: only the library, no headers. Prefers Debian's pthread
# variant, which several threads may use together; the serial variant does not allow that. With
# OpenBLAS_USE_STATIC_LIBS, finds the archive. From the archive a linker takes only the matrix
# products. The linker leaves out LAPACK, which is most of OpenBLAS and needs the Fortran library.
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
