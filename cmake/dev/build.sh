# Configuring and compiling a preset in build/PRESET.
# shellcheck shell=bash

# As many processes as there are cores, but no more than fit into memory at some 700 MB each.
job_count() {
  local cores available
  cores=$(nproc)
  available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
  local fitting=$((available / 700000))
  echo $((fitting < 1 ? 1 : fitting < cores ? fitting : cores))
}

# cached VARIABLE FOLDER prints what a build's cache has for a variable.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$2/CMakeCache.txt"; }

# why_afresh FOLDER prints why what was configured there cannot be gone on with, if so.
why_afresh() {
  [[ -f $1/CMakeCache.txt ]] || return 0
  local compiler version
  compiler=$(cached CMAKE_CXX_COMPILER "$1")
  version=$(sed -n 's/^set(CMAKE_CXX_COMPILER_VERSION "\(.*\)")$/\1/p' \
    "$1"/CMakeFiles/*/CMakeCXXCompiler.cmake 2>/dev/null || true)
  if [[ ! $(cached CMAKE_HOME_DIRECTORY "$1") -ef $PWD ]]; then
    echo "it is of another folder, or cut"
  elif [[ ! -f $1/CMakeFiles/cmake.check_cache || ! -f $1/build.ninja ]]; then
    echo "its configuration was interrupted"
  elif [[ $("$compiler" -dumpfullversion -dumpversion 2>/dev/null) != "${version:-none}" ]]; then
    echo "it is of another compiler"
  fi
}

# begin_afresh PRESET removes what was configured and cannot be gone on with.
begin_afresh() {
  local why
  why=$(why_afresh "build/$1")
  [[ -n $why ]] || return 0
  say "building build/$1 afresh: $why"
  rm -rf "build/$1"
}

# configure PRESET [CMAKE-ARGUMENT...]
configure() {
  local werror=OFF
  if [[ ${CI:-} == true || ${ROTA_WERROR:-} == 1 ]]; then werror=ON; fi
  # By GCC's own word, sanitized code makes its warnings see what is not there.
  if [[ $1 == asan || $1 == tsan ]]; then werror=OFF; fi
  want_space
  begin_afresh "$1"
  cmake --preset "$1" -DROTA_WARNINGS_AS_ERRORS=$werror "${@:2}" >/dev/null || failed
}

# is_configured PRESET: whether an earlier command has said what is to be built there.
is_configured() {
  begin_afresh "$1"
  [[ -f build/$1/CMakeCache.txt ]]
}

# configure_all PRESET [CMAKE-ARGUMENT...]
configure_all() {
  configure "$1" -DROTA_BUILD_MANIFEST=ON -DROTA_BUILD_TESTS=ON -DROTA_LONG_TESTS=ON \
    -DROTA_BUILD_BENCHMARKS=ON "${@:2}"
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

# want_space ends before anything is half-built, where the tree's disk is full.
want_space() {
  local left
  left=$(df --output=avail -m . | tail -n 1)
  ((left >= 100)) || die "the disk of $PWD is full: $((left)) MB are left"
}

# failed ends after a command that has said why, or whose disk is full.
failed() {
  want_space
  exit 1
}
