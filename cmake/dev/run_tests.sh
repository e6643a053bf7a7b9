# Running a preset's tests by ctest.
# shellcheck shell=bash

# Whether ctest's arguments choose among the tests.
chooses_tests() {
  local argument
  for argument in "$@"; do
    case $argument in
      -L* | -R* | -E* | -I* | --label* | --tests* | --exclude* | --rerun-failed) return 0 ;;
    esac
  done
  return 1
}

# run_tests PRESET [CTEST-ARGUMENT...]
run_tests() {
  local slots
  slots=$(cached ROTA_TEST_SLOTS "build/$1")
  say "testing build/$1"
  # What the tests build themselves is compiled as all else is.
  CMAKE_CXX_COMPILER_LAUNCHER=$PWD/cmake/ccache.sh \
    ctest --test-dir "build/$1" --output-on-failure --no-tests=error \
    -j $(($(nproc) * slots)) "${@:2}"
}
