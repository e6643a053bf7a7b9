# ./dev test [--all] [CTEST-ARGUMENT...]
# shellcheck shell=bash

command_test() {
  local argument arguments=() long=OFF exclude=(--label-exclude '^long$')
  for argument in "$@"; do
    if [[ $argument == --all ]]; then long=ON; else arguments+=("$argument"); fi
  done
  # Whoever chooses chooses among all.
  if chooses_tests "${arguments[@]}"; then long=ON; fi
  if [[ $long == ON ]]; then exclude=(); fi
  setup build test
  configure_all release -DROTA_LONG_TESTS=$long
  compile release
  run_tests release "${exclude[@]}" "${arguments[@]}"
}
