# Installs both libraries, the public headers, and the files by which CMake and pkg-config find
# them. launcher/CMakeLists.txt installs the launcher. packages.cmake makes a package of each
# component.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(DIRECTORY lib/include/rota DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN *.h)

# Debian packages have the licence under another name: see packages.cmake.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rota)
foreach(form IN ITEMS shared static)
  install(TARGETS rota_${form} EXPORT rota-${form}-targets
    LIBRARY COMPONENT library NAMELINK_COMPONENT dev
    ARCHIVE COMPONENT dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT rota-${form}-targets NAMESPACE rota:: DESTINATION ${package_dir} COMPONENT dev)
endforeach()

install(FILES cmake/FindCAres.cmake DESTINATION ${package_dir} COMPONENT dev)
set(private_libraries ${CAres_LIBRARY} ${OPENSSL_SSL_LIBRARY} ${OPENSSL_CRYPTO_LIBRARY}
  ${ZLIB_LIBRARY_RELEASE})
set(ROTA_PRIVATE_LIBS "-lcares -lssl -lcrypto -lz -pthread")
set(ROTA_HAS_OPENBLAS OFF)
if(TARGET OpenBLAS::OpenBLAS)
  set(ROTA_HAS_OPENBLAS ON)
  list(PREPEND private_libraries ${OpenBLAS_LIBRARY})
  string(PREPEND ROTA_PRIVATE_LIBS "-lopenblas ")
  install(FILES cmake/FindOpenBLAS.cmake DESTINATION ${package_dir} COMPONENT dev)
endif()

# Distributions can package the component mpi apart from the rest. Its source is for an MPI that was
# not installed here. The libraries are linked with an MPI, and not with librota.
set(ROTA_MPI_SOURCE ${CMAKE_INSTALL_DATADIR}/rota/mpi/calls.cpp)
if(ROTA_BUILD_MPI)
  install(FILES lib/mpi/include/rota/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rota COMPONENT mpi)
  install(FILES lib/mpi/calls.cpp DESTINATION ${CMAKE_INSTALL_DATADIR}/rota/mpi COMPONENT mpi)
  install(FILES cmake/rota-mpi.cmake DESTINATION ${package_dir} COMPONENT mpi)
  foreach(mpi IN ITEMS openmpi mpich)
    if(TARGET rota_mpi_${mpi})
      install(TARGETS rota_mpi_${mpi} EXPORT rota-mpi-targets
        LIBRARY COMPONENT mpi NAMELINK_COMPONENT mpi)
      set(has_mpi TRUE)
    endif()
  endforeach()
  if(has_mpi)
    install(EXPORT rota-mpi-targets NAMESPACE rota:: DESTINATION ${package_dir} COMPONENT mpi)
  endif()
endif()

# Neither library is linked with librota. The runtime of CUDA is inside of librota_cuda, and
# librota_nccl opens NCCL when it is used.
foreach(part IN ITEMS cuda nccl)
  if(TARGET rota_${part})
    install(DIRECTORY lib/${part}/include/rota DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
      COMPONENT ${part})
    install(TARGETS rota_${part} EXPORT rota-${part}-targets
      LIBRARY COMPONENT ${part} NAMELINK_COMPONENT ${part}
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT rota-${part}-targets NAMESPACE rota:: DESTINATION ${package_dir}
      COMPONENT ${part})
  endif()
endforeach()

configure_package_config_file(cmake/rota-config.cmake.in rota-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS ROTA_MPI_SOURCE NO_SET_AND_CHECK_MACRO)
# Before 1.0.0 a minor version may be incompatible with the one before.
write_basic_package_version_file(rota-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/rota-config.cmake
  ${PROJECT_BINARY_DIR}/rota-config-version.cmake
  DESTINATION ${package_dir} COMPONENT dev)

# rota.pc finds the prefix relative to itself, so that the installed package may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE ROTA_PREFIX_FROM_PC)
# Each folder with a library that librota.a needs is searched, in the order of the libraries.
list(TRANSFORM private_libraries REPLACE "/[^/]*$" "")
list(REMOVE_DUPLICATES private_libraries)
list(TRANSFORM private_libraries PREPEND -L)
list(JOIN private_libraries " " private_folders)
string(PREPEND ROTA_PRIVATE_LIBS "${private_folders} ")
# Distributions may give absolute folders, which the prefix does not move.
foreach(folder IN ITEMS LIBDIR INCLUDEDIR)
  set(ROTA_PC_${folder} ${CMAKE_INSTALL_${folder}})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${folder}})
    string(PREPEND ROTA_PC_${folder} "\${prefix}/")
  endif()
endforeach()
configure_file(cmake/rota.pc.in rota.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rota.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT dev)
