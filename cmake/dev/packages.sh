# Lists the Debian packages that commands need, in groups, and installs them.
# shellcheck shell=bash

packages_of() {
  case $1 in
    # Only the packages that training MNIST needs. With ccache, later builds reuse the objects of
    # the demo.
    demo) echo ccache cmake g++ libc-ares-dev libcxxopts-dev libeigen3-dev libhwloc-dev \
      libopenblas-pthread-dev libprotozero-dev libssl-dev ninja-build nlohmann-json3-dev pkgconf \
      zlib1g-dev ;;
    build) echo "$(packages_of demo)" libyaml-cpp-dev ;;
    test) echo git iproute2 libgmock-dev libgtest-dev libmpich-dev libopenmpi-dev libpmix-dev mpich \
      munge openmpi-bin slurm-client slurmctld slurmd ;;
    cluster) echo containernetworking-plugins iproute2 iptables libgmock-dev libgtest-dev \
      libopenmpi-dev libpmix-dev openmpi-bin openssl runc ;;
    mpi) echo hpcc iproute2 libboost-mpi-dev libgmock-dev libgtest-dev libmpich-dev \
      libopenmpi-dev libpmix-dev mpich mpich-doc netpipe-mpich2 netpipe-openmpi openmpi-bin \
      python3-mpi4py python3-venv ;;
    check) echo clang clang-format clang-tidy ;;
    fuzz | sanitize) echo clang libclang-rt-dev ;;
    docs) echo doxygen ;;
    arm) echo g++-aarch64-linux-gnu g++-arm-linux-gnueabihf mmdebstrap qemu-user ;;
    cycles) echo llvm-19 ;;
    machine) echo cpio qemu-system-arm ;;
    planted) echo patch ;;
    packages) echo dpkg-dev fakeroot file ;;
    bench) echo iproute2 libbenchmark-dev libgloo-dev libmpich-dev libopenmpi-dev mpich \
      openmpi-bin valgrind ;;
    cuda) echo python3-venv xz-utils ;;
    judges | peers | pytorch) echo python3-venv ;;
    *) die "there is no group of packages '$1'; the groups are demo, test, judges, cuda, mpi, \
cluster, sanitize, check, fuzz, planted, packages, docs, arm, cycles, machine, bench, pytorch and \
peers" ;;
  esac
}

# Without these packages everything is built, but more slowly, and some tests are skipped.
optional_packages='ccache|git|libmpich-dev|libopenmpi-dev|libpmix-dev|mpich|openmpi-bin|valgrind'

# missing_of PACKAGE... prints the packages that are not completely installed.
missing_of() {
  local package installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || echo "$package"
  done
}

# lacks_what_is_needed succeeds if any package in `missing` is not optional.
lacks_what_is_needed() { printf '%s\n' "${missing[@]}" | grep -qvxE "$optional_packages"; }

# setup GROUP... installs missing packages. Without the permission to do so, it prints the command
# that installs them.
setup() {
  local group packages wanted=() missing as_root=(env)
  for group in "$@"; do
    packages=$(packages_of "$group")
    read -ra packages <<<"$packages"
    wanted+=("${packages[@]}")
  done
  if ! command -v dpkg-query >/dev/null; then
    echo "dev: this system is not Debian, so install these packages yourself: ${wanted[*]}" >&2
    return
  fi
  mapfile -t missing < <(missing_of "${wanted[@]}" | sort -u)
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    as_root=(sudo -n env)
    if ! "${as_root[@]}" true 2>/dev/null; then
      lacks_what_is_needed || return 0
      die "packages are missing; this installs them:
  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
  fi
  say "installing ${missing[*]}"
  install_packages "${as_root[@]}" DEBIAN_FRONTEND=noninteractive
}

# install_packages AS-ROOT... installs the packages in `missing`. It shows the output of apt and
# dpkg only if they fail.
install_packages() {
  local log apt=("$@" apt-get -qq -y
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  log=$(mktemp)
  # First completes an installation that was interrupted: apt refuses to work before that.
  if {
    "$@" dpkg --force-confdef --force-confold --configure -a && "${apt[@]}" update &&
      "${apt[@]}" install --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1 </dev/null; then
    rm "$log"
    return
  fi
  local why
  why=$(grep -m 1 -E '^(E:|W: Failed|dpkg: error)' "$log" || true)
  if ! lacks_what_is_needed; then
    say "continuing without ${missing[*]} (${why:-see $log})"
    return
  fi
  die "packages cannot be installed (${why:-see $log}), so nothing was built; the output of apt \
is in $log; install these packages: ${missing[*]}"
}
