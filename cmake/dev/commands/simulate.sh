# ./dev simulate [SEED | --seeds N [FROM]]
#
# Many seeds end with a table: how many met each failure in a call of each kind, and at each place.
# From 10,000 on it is an error that a failure is met nowhere.
# shellcheck shell=bash

command_simulate() {
  setup build test
  configure_all release
  compile release simulate
  (($#)) || set -- --seeds 10000
  build/release/tests/simulate "$@"
}
