# ./dev packages [ARCHITECTURE...]
#
# Makes Debian packages in build/packages: of this machine's architecture, or of those named.
# shellcheck shell=bash
source cmake/dev/sysroot.sh

command_packages() {
  local native architecture
  native=$(dpkg --print-architecture)
  (($#)) || set -- "$native"
  for architecture; do
    [[ $architecture =~ ^($native|arm64|armhf)$ ]] ||
      die "packages: the architecture must be $native, arm64 or armhf, not '$architecture'"
  done
  for architecture; do
    if [[ $architecture == "$native" ]]; then
      setup build test bench packages
      configure package -DROTA_CUDA="$(cuda_root)"
      make_packages package
    else
      setup build arm packages
      make_sysroot "$architecture"
      make_package_records "$architecture"
      configure "package-$architecture"
      # dpkg-shlibdeps looks for a library's package in these records, not in those of this machine.
      DPKG_ADMINDIR=$kept/arm/$architecture.dpkg DEB_HOST_ARCH=$architecture \
        make_packages "package-$architecture"
    fi
  done
}

# make_packages PRESET builds all that is installed, and then the packages.
make_packages() {
  compile "$1"
  say "making packages of build/$1"
  mkdir -p build/packages
  cpack --config "build/$1/CPackConfig.cmake" -B build/packages >build/packages/"$1".log 2>&1 ||
    die "packages: see build/packages/$1.log"
  rm -rf build/packages/_CPack_Packages
  ls build/packages/*.deb
}
