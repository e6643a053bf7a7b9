# The Debian packages that commands need, by group, and how they are installed.
# shellcheck shell=bash

packages_of() {
  case $1 in
    # What trains MNIST, and no more. With ccache, what the demo has compiled is compiled once.
    demo) echo ccache cmake g++ libc-ares-dev libcxxopts-dev libeigen3-dev libhwloc-dev \
      libopenblas-pthread-dev libssl-dev ninja-build nlohmann-json3-dev pkgconf zlib1g-dev ;;
    build) echo "$(packages_of demo)" libyaml-cpp-dev ;;
    test) echo git iproute2 libgmock-dev libgtest-dev munge openmpi-bin slurm-client slurmctld slurmd ;;
    cluster) echo containernetworking-plugins iproute2 iptables libgmock-dev libgtest-dev openssl \
      runc ;;
    check) echo clang clang-format clang-tidy ;;
    fuzz | sanitize) echo clang libclang-rt-dev ;;
    docs) echo doxygen ;;
    planted) echo patch ;;
    bench) echo iproute2 libbenchmark-dev libgloo-dev libmpich-dev libopenmpi-dev mpich \
      openmpi-bin valgrind ;;
    peers) echo python3-venv ;;
    *) die "no group of packages is called '$1'; there are demo, test, cluster, sanitize, check, \
fuzz, planted, docs, bench and peers" ;;
  esac
}

# Without these all is built, if more slowly, and some tests are skipped.
optional_packages='ccache|git|openmpi-bin|valgrind'

# missing_of PACKAGE... prints those that are not installed as a whole.
missing_of() {
  local package installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || echo "$package"
  done
}

# lacks_what_is_needed: whether any of `missing` is not optional.
lacks_what_is_needed() { printf '%s\n' "${missing[@]}" | grep -qvxE "$optional_packages"; }

# setup GROUP... installs what is missing or, where it may not, says how to.
setup() {
  local group packages wanted=() missing as_root=(env)
  for group in "$@"; do
    packages=$(packages_of "$group")
    read -ra packages <<<"$packages"
    wanted+=("${packages[@]}")
  done
  if ! command -v dpkg-query >/dev/null; then
    echo "dev: not Debian, so please see to it that these are here: ${wanted[*]}" >&2
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

# install_packages AS-ROOT... installs `missing`. What apt and dpkg say is told only where they
# fail.
install_packages() {
  local log apt=("$@" apt-get -qq -y
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  log=$(mktemp)
  # An installation that was interrupted is ended first: apt does nothing before that.
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
    say "going on without ${missing[*]} (${why:-see $log})"
    return
  fi
  die "packages cannot be installed (${why:-see $log}), so nothing was built; all that apt said is \
in $log, and this is what to install: ${missing[*]}"
}
