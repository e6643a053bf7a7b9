# Describes the Debian packages that `./dev packages` makes of a build: one for each component that
# the build installs. Without this file, CPack would make one archive of all files.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The maintainers of rota <rota@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Programs may be linked with librota.so, which lies in no package yet.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${ROTA_ARM})
  set(library_folder usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${CMAKE_SYSROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE}
    ${CMAKE_SYSROOT}/${library_folder}
    ${CMAKE_SYSROOT}/${library_folder}/openblas-pthread)
endif()

# A package of 32-bit ARM refuses processors that its programs cannot run on. Without a cross
# compiler, CMake names the processor as the kernel does, which may be one of 64 bits.
set(rota_preinst)
if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm|aarch64)")
  set(rota_preinst ${CMAKE_CURRENT_LIST_DIR}/armhf/preinst)
endif()

# rota_package(<component> <name> <section> <description> [<dependency>...])
# The summary of each package is that of the project.
function(rota_package component name section description)
  string(TOUPPER ${component} key)
  list(JOIN ARGN ", " depends)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS ${depends} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA ${rota_preinst} PARENT_SCOPE)
endfunction()

set(same "(= ${PROJECT_VERSION})")
set(runtime librota${ROTA_SOVERSION})
rota_package(library ${runtime} libs
  "library of rota, for synchronous data-parallel training\nMany workers train one model, and sum their gradients by all-reduce.")
rota_package(dev librota-dev libdevel
  "headers and static library of rota\nWith the files by which CMake and pkg-config find them."
  "${runtime} ${same}")
set(linked)
if(BUILD_SHARED_LIBS)
  set(linked "${runtime} ${same}")
endif()
rota_package(programs rota science
  "launcher and programs of rota\nrotarun starts a program as the ranks of a job, on one host or on several."
  ${linked})
rota_package(bench rota-bench science
  "benchmarks of rota\nrota-bench measures collectives, as nccl-tests do, and finds faster plans for one world."
  "rota ${same}")
rota_package(mpi rota-mpi science
  "rota over MPI, and MPI programs under rotarun\nHas a library for each MPI, its header, and the PMIx server of rotarun."
  "rota ${same}" "${runtime} ${same}")
rota_package(cuda librota-cuda${ROTA_SOVERSION} libs
  "kernels of rota for GPUs of NVIDIA\nlibrota opens this library when a program uses a GPU."
  "${runtime} ${same}")
rota_package(nccl librota-nccl${ROTA_SOVERSION} libs
  "rota over NCCL\nlibrota opens this library when the ranks of a job use NCCL."
  "${runtime} ${same}")
# Both have headers too, whose names are the same in each version. So a package of one minor version
# takes the place of that of another one.
foreach(part IN ITEMS cuda nccl)
  string(TOUPPER ${part} key)
  foreach(field IN ITEMS PROVIDES CONFLICTS REPLACES)
    set(CPACK_DEBIAN_${key}_PACKAGE_${field} librota-${part})
  endforeach()
endforeach()
# Only programs that are compiled with <rota/mpi.h> need it: others run over MPI without headers.
set(CPACK_DEBIAN_MPI_PACKAGE_SUGGESTS librota-dev)
# Only the static library needs these.
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS
  "libc-ares-dev, libopenblas-dev, libssl-dev, zlib1g-dev")

get_cmake_property(CPACK_COMPONENTS_ALL COMPONENTS)
list(REMOVE_ITEM CPACK_COMPONENTS_ALL Unspecified licence)
# Debian expects the licence of each package here. An installation without packages has it once.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} key)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${key}_PACKAGE_NAME}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
