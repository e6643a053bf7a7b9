# Compiles for 32-bit ARM on another machine: ARMv7 with a floating-point unit, as Debian's armhf.
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(ROTA_ARM armhf)
set(ROTA_TRIPLE arm-linux-gnueabihf)
set(ROTA_EMULATOR qemu-arm)
set(ROTA_CPU cortex-a7)  # The Raspberry Pi 2's.
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
