# ./dev test [--all] [CTEST-ARGUMENT...]
# shellcheck shell=bash
source cmake/dev/judges.sh

command_test() {
  local argument arguments=() long=OFF exclude=(--label-exclude '^long$')
  for argument in "$@"; do
    if [[ $argument == --all ]]; then long=ON; else arguments+=("$argument"); fi
  done
  # Options that select tests select among all tests, so all are built.
  if chooses_tests "${arguments[@]}"; then long=ON; fi
  if [[ $long == ON ]]; then exclude=(); fi
  setup build test
  if [[ $long == ON ]]; then
    setup judges cuda
    install_judges
    install_cuda
  fi
  configure_all release -DROTA_LONG_TESTS=$long
  compile release
  run_tests release "${exclude[@]}" "${arguments[@]}"
}
