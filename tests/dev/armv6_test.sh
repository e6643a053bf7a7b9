#!/usr/bin/env bash
# Tests the script that refuses the packages of 32-bit ARM on processors that they cannot run on,
# and which packages have it. A 32-bit system may have a 64-bit kernel, and CMake then names the
# kernel's processor.
# shellcheck disable=SC2154

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
fake uname <<'SH'
[[ $1 == -m ]] && echo "$FAKE_MACHINE"
SH

for machine in armv6l armv5tel; do
  run 1 env FAKE_MACHINE=$machine "$source_tree/cmake/armhf/preinst" install
  expect "$machine is refused by name" \
    says "^rota needs ARMv7, and this processor is $machine: .* use a Raspberry Pi 2 or later"
done
for machine in armv7l armv8l aarch64; do
  run 0 env FAKE_MACHINE=$machine "$source_tree/cmake/armhf/preinst" install
  expect "nothing is said on $machine" test ! -s output
done

# Method: the real files of CMake, in a project that says it was configured on an ARM board.
mkdir board
cat >board/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(board VERSION 1.0 LANGUAGES CXX)
include(GNUInstallDirs)
set(CMAKE_CXX_COMPILER_ID GNU)
set(CMAKE_SYSTEM_PROCESSOR ${PROCESSOR})
set(CMAKE_SIZEOF_VOID_P ${POINTER_BYTES})
add_library(rota_objects OBJECT)
add_subdirectory(${SOURCE_TREE}/lib/kernels kernels)
get_property(options SOURCE ${SOURCE_TREE}/lib/kernels/cpu/neon.cpp
  TARGET_DIRECTORY rota_objects PROPERTY COMPILE_OPTIONS)
message("options of neon.cpp: ${options}")
install(TARGETS rota_objects OBJECTS COMPONENT library DESTINATION lib)
include(${SOURCE_TREE}/cmake/packages.cmake)
message("scripts of a package: ${CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA}")
CMAKE
# configure PROCESSOR POINTER_BYTES
configure() {
  run 0 cmake -G Ninja -S board -B "board/$1_$2" -D SOURCE_TREE="$source_tree" -D PROCESSOR="$1" \
    -D POINTER_BYTES="$2"
}
for processor in armv7l aarch64; do
  configure $processor 4
  expect "32 bits on $processor: no option of 64-bit ARM" says '^options of neon.cpp: $'
  expect "32 bits on $processor: the packages have the script" \
    says '^scripts of a package: .*/cmake/armhf/preinst$'
done
for processor in aarch64 x86_64; do
  configure $processor 8
  expect "64 bits on $processor: the packages have no script" says '^scripts of a package: $'
done
configure aarch64 8
expect 'the options of 64-bit ARM' says '^options of neon.cpp: .*-moverride='
exit "$failures"
