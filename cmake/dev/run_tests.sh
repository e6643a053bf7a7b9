# Runs the tests of a preset with ctest.
# shellcheck shell=bash

# Succeeds if one of the arguments makes ctest select tests.
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
  # Some tests compile projects. They use ccache too.
  CMAKE_CXX_COMPILER_LAUNCHER=$PWD/cmake/ccache.sh \
    ctest --test-dir "build/$1" --output-on-failure --no-tests=error \
    -j $(($(nproc) * slots)) "${@:2}"
}
