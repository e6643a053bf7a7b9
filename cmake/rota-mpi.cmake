# The component mpi of find_package(rota): defines rota::mpi, for the MPI that FindMPI finds. If
# there is no library for that MPI in its version, the library is built along, from its installed
# source. The library for Debian's MPICH would load Debian's MPICH beside another one, even of the
# same version, since the two have different names. The mpi.h of Intel MPI has the mark of an old
# MPICH.
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI QUIET COMPONENTS CXX)
set(rota_mpi_FOUND FALSE)
if(NOT MPI_CXX_FOUND)
  set(rota_NOT_FOUND_MESSAGE
    "rota's component mpi needs an MPI that find_package(MPI COMPONENTS CXX) finds")
  return()
endif()

set(rota_mpi_name own)
set(rota_mpi_version)
foreach(rota_mpi_dir IN LISTS MPI_CXX_INCLUDE_DIRS)
  if(EXISTS ${rota_mpi_dir}/mpi.h)
    file(STRINGS ${rota_mpi_dir}/mpi.h rota_mpi_marks
      REGEX "#define +(OMPI_MAJOR_VERSION|MPICH_VERSION)( |$)" LIMIT_COUNT 1)
    if(rota_mpi_marks)
      string(REGEX MATCH "[0-9][^ \"]*" rota_mpi_version "${rota_mpi_marks}")
    endif()
    if(rota_mpi_marks MATCHES OMPI)
      set(rota_mpi_name openmpi)
    elseif(rota_mpi_marks)
      set(rota_mpi_name mpich)
    endif()
  endif()
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/rota-mpi-targets.cmake OPTIONAL)
set(rota_mpi_library rota::mpi_${rota_mpi_name})
set(rota_mpi_built_for)
set(rota_mpi_linked)
if(TARGET ${rota_mpi_library})
  get_target_property(rota_mpi_built_for ${rota_mpi_library} ROTA_MPI_VERSION)
  get_target_property(rota_mpi_linked ${rota_mpi_library} ROTA_MPI_LINKED)
endif()
if(NOT rota_mpi_built_for OR NOT "x${rota_mpi_built_for}" STREQUAL "x${rota_mpi_version}"
    OR NOT rota_mpi_linked IN_LIST MPI_CXX_LIB_NAMES)
  set(rota_mpi_library rota_mpi_own)
endif()
if(rota_mpi_library STREQUAL rota_mpi_own AND NOT TARGET rota_mpi_own)
  add_library(rota_mpi_own SHARED ${rota_mpi_source})
  target_compile_features(rota_mpi_own PRIVATE cxx_std_20)
  set_target_properties(rota_mpi_own PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(rota_mpi_own PRIVATE
    $<TARGET_PROPERTY:rota::rota,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(rota_mpi_own PRIVATE MPI::MPI_CXX)
endif()
if(NOT TARGET rota::mpi)
  add_library(rota::mpi INTERFACE IMPORTED)
  target_link_libraries(rota::mpi INTERFACE rota::rota ${rota_mpi_library} MPI::MPI_CXX)
endif()
set(rota_mpi_FOUND TRUE)
unset(rota_mpi_built_for)
unset(rota_mpi_dir)
unset(rota_mpi_library)
unset(rota_mpi_linked)
unset(rota_mpi_marks)
unset(rota_mpi_name)
unset(rota_mpi_version)
