# ./dev simulate [SEED | --seeds N [FROM]]
# shellcheck shell=bash

command_simulate() {
  setup build test
  configure_all release
  compile release simulate
  (($#)) || set -- --seeds 10000
  build/release/tests/simulate "$@"
}
