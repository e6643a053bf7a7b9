# Compiles for 64-bit ARM on another machine: all Raspberry Pis from the third, and servers.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ROTA_ARM arm64)
set(ROTA_TRIPLE aarch64-linux-gnu)
set(ROTA_EMULATOR qemu-aarch64)
set(ROTA_CPU cortex-a53)  # The Raspberry Pi 3's, which has no instruction that a later one lacks.
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
