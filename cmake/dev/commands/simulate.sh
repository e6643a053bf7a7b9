# ./dev simulate [SEED | --seeds N [FROM]]
#
# With --seeds, the output ends with a table: how many seeds met each failure in each kind of call,
# and at each place that the failing rank may have in its world (alone on its host, and so on). With
# 10,000 seeds or more, a failure that no seed met is an error.
# shellcheck shell=bash

command_simulate() {
  setup build test
  configure_all release
  compile release simulate
  (($#)) || set -- --seeds 10000
  build/release/tests/simulate "$@"
}
