# Makes a tree with the real ./dev, .ci/run and presets. A program of one line replaces the rest.
# The tests here source this file first. They then run in $work, which is removed when they end.
# shellcheck shell=bash

source_tree=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
mkdir fake
export PATH=$work/fake:$PATH ROTA_CACHE=$work/kept HOME=$work
unset CI ROTA_CI_MINUTES CCACHE_DIR CMAKE_CXX_COMPILER_LAUNCHER ROTA_NO_CCACHE
failures=0

# make_tree FOLDER
make_tree() {
  mkdir -p "$1"/{cmake,tests/planted,lib}
  cp -r "$source_tree"/cmake/{dev,ccache.sh} "$1/cmake"
  cp -r "$source_tree"/{.ci,dev,CMakePresets.json} "$1"
  echo 'int main() { return 0; }' >"$1/lib/one.cpp"
  cat >"$1/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
enable_testing()
set(ROTA_TEST_SLOTS 3 CACHE INTERNAL "")
add_executable(one lib/one.cpp)
add_test(NAME one COMMAND one)
add_test(NAME lasting COMMAND one)
set_tests_properties(lasting PROPERTIES LABELS "hosts;long")
CMAKE
}

# fake NAME: makes a program of that name. Its script is read from standard input.
fake() {
  { echo '#!/bin/bash' && cat; } >"fake/$1"
  chmod +x "fake/$1"
}

# Every package that is asked for is installed.
fake dpkg-query <<'SH'
for package in "${@:3}"; do echo "installed $package"; done
SH

# Puts a ~ into words of sanitizers and of the allocator. The small trees only print these words, and
# the CI run of this tree must not take them for damaged memory: see .ci/results.awk.
harmless() {
  sed -E 's/(Sanitize|runtime error|free\(\)|malloc\(\)|double fre|stack smashin)(r|: ?|e|g)/\1~\2/g'
}

# expect WHAT COMMAND...: the command must succeed. If it fails, the output of the last run is
# shown.
expect() {
  "${@:2}" && return
  { echo "FAILED: $1" && tail -n 40 output | sed 's/^/    /'; } | harmless
  ((++failures))
}

# run STATUS COMMAND...: the command must end with STATUS. The file output gets what it prints.
run() {
  local status=0
  "${@:2}" >output 2>&1 </dev/null || status=$?
  expect "${*:2}: ended with $status, not $1" test "$status" = "$1"
}

says() { grep -qE -e "$1" output; }
says_not() { ! says "$1"; }
