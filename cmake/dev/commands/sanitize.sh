# ./dev sanitize asan|tsan [CTEST-ARGUMENT...]
# shellcheck shell=bash

command_sanitize() {
  local preset=${1:-} arguments=()
  [[ $preset == asan || $preset == tsan ]] || die "sanitize: the sanitizer must be asan or tsan"
  shift
  # The proofs of plans take minutes under a sanitizer, and have neither threads nor memory that it
  # should watch. There must be only one option --label-exclude: with two, ctest leaves out only
  # tests that both options name.
  local exclude='style|proof'
  while (($#)); do
    case $1 in
      -LE | --label-exclude) exclude+="|$2" && shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  setup build test sanitize
  # rota-bench measures, so nobody runs it under a sanitizer.
  configure_all "$preset" -DROTA_BUILD_BENCHMARKS=OFF
  compile "$preset"
  run_tests "$preset" --label-exclude "$exclude" "${arguments[@]}"
}
