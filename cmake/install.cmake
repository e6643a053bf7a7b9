# What `cmake --install` puts where: both libraries, the public headers, the descriptions by which
# CMake and pkg-config find them. The launcher's folder installs the launcher.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(DIRECTORY lib/include/rota DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rota)
foreach(form IN ITEMS shared static)
  install(TARGETS rota_${form} EXPORT rota-${form}-targets
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT rota-${form}-targets NAMESPACE rota:: DESTINATION ${package_dir})
endforeach()

install(FILES cmake/FindCAres.cmake DESTINATION ${package_dir})
cmake_path(GET CAres_LIBRARY PARENT_PATH cares_dir)
set(ROTA_PRIVATE_LIBS "-L${cares_dir} -lcares -lssl -lcrypto -lz -pthread")
set(ROTA_HAS_OPENBLAS OFF)
if(TARGET OpenBLAS::OpenBLAS)
  set(ROTA_HAS_OPENBLAS ON)
  cmake_path(GET OpenBLAS_LIBRARY PARENT_PATH openblas_dir)
  string(PREPEND ROTA_PRIVATE_LIBS "-L${openblas_dir} -lopenblas ")
  install(FILES cmake/FindOpenBLAS.cmake DESTINATION ${package_dir})
endif()

configure_package_config_file(cmake/rota-config.cmake.in rota-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0.0 a minor version may break what was.
write_basic_package_version_file(rota-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/rota-config.cmake
  ${PROJECT_BINARY_DIR}/rota-config-version.cmake
  DESTINATION ${package_dir})

# Found from the file itself, so that what was installed may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE ROTA_PREFIX_FROM_PC)
configure_file(cmake/rota.pc.in rota.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rota.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
