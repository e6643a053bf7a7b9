# Configures and compiles a preset in build/PRESET.
# shellcheck shell=bash
source cmake/dev/cuda.sh

# Prints how many compilers may run at the same time: one for each core, but only as many as fit
# into memory, at about 700 MB each.
job_count() {
  local cores available
  cores=$(nproc)
  available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
  local fitting=$((available / 700000))
  echo $((fitting < 1 ? 1 : fitting < cores ? fitting : cores))
}

# cached VARIABLE FOLDER prints the value of a variable in the CMake cache of a build.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$2/CMakeCache.txt"; }

# found VARIABLE FOLDER prints what CMake has found out about the compiler of a build. If a toolchain
# file names the compiler, the CMake cache does not have it.
found() {
  sed -n "s/^set($1 \"\(.*\)\")\$/\1/p" "$2"/CMakeFiles/*/CMakeCXXCompiler.cmake 2>/dev/null || true
}

# why_afresh FOLDER prints why the build in this folder must be configured again from the start. It
# prints nothing if the build can be used.
why_afresh() {
  [[ -f $1/CMakeCache.txt ]] || return 0
  local compiler version
  compiler=$(found CMAKE_CXX_COMPILER "$1")
  version=$(found CMAKE_CXX_COMPILER_VERSION "$1")
  if [[ ! $(cached CMAKE_HOME_DIRECTORY "$1") -ef $PWD ]]; then
    echo "it was configured in another folder, or is incomplete"
  elif [[ ! -f $1/CMakeFiles/cmake.check_cache || ! -f $1/build.ninja ]]; then
    echo "its configuration was interrupted"
  elif [[ $("$compiler" -dumpfullversion -dumpversion 2>/dev/null) != "${version:-none}" ]]; then
    echo "it was configured for another compiler"
  fi
}

# begin_afresh PRESET removes the build of the preset if it cannot be used.
begin_afresh() {
  local why
  why=$(why_afresh "build/$1")
  [[ -n $why ]] || return 0
  say "building build/$1 from scratch: $why"
  rm -rf "build/$1"
}

# configure PRESET [CMAKE-ARGUMENT...]
configure() {
  local werror=OFF
  if [[ ${CI:-} == true || ${ROTA_WERROR:-} == 1 ]]; then werror=ON; fi
  # GCC documents that sanitizers cause false warnings.
  if [[ $1 == asan || $1 == tsan ]]; then werror=OFF; fi
  want_space
  begin_afresh "$1"
  cmake --preset "$1" -DROTA_WARNINGS_AS_ERRORS=$werror "${@:2}" >/dev/null || failed
}

# is_configured PRESET succeeds if an earlier command has configured this preset.
is_configured() {
  begin_afresh "$1"
  [[ -f build/$1/CMakeCache.txt ]]
}

# configure_all PRESET [CMAKE-ARGUMENT...]
configure_all() {
  local cuda=
  # With the toolkit, clang-tidy looks at the sources of lib/cuda too.
  [[ $1 != release && $1 != tidy ]] || cuda=$(cuda_root)
  configure "$1" -DROTA_BUILD_MANIFEST=ON -DROTA_BUILD_TESTS=ON -DROTA_LONG_TESTS=ON \
    -DROTA_BUILD_BENCHMARKS=ON -DROTA_MPI_PROGRAM_TESTS=OFF -DROTA_ARM_TESTS=OFF \
    -DROTA_CUDA="$cuda" "${@:2}"
}

# compile PRESET [TARGET...]
compile() {
  local status=0 log
  want_space
  try_ccache
  say "building build/$1"
  log=$(mktemp)
  CCACHE_STATSLOG=$log cmake --build "build/$1" --parallel "$(job_count)" ${2:+--target "${@:2}"} ||
    status=$?
  tell_hits "$log"
  rm -f "$log"
  ((status == 0)) || failed
}

# want_space ends the command if the disk of the tree is full, so that nothing is half-built.
want_space() {
  local left
  left=$(df --output=avail -m . | tail -n 1)
  ((left >= 100)) || die "the disk of $PWD is full: $((left)) MB are left"
}

# failed ends after a command that failed. That command has printed the reason, unless the disk is
# full.
failed() {
  want_space
  exit 1
}
