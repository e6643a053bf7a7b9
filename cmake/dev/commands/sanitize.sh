# ./dev sanitize asan|tsan [CTEST-ARGUMENT...]
# shellcheck shell=bash

command_sanitize() {
  local preset=${1:-} arguments=()
  [[ $preset == asan || $preset == tsan ]] || die "sanitize: asan or tsan?"
  shift
  # The proofs of the plans take minutes under a sanitizer, and have no memory or threads to watch.
  # Of two options ctest would leave out what both name, so there is one.
  local exclude='style|proof'
  while (($#)); do
    case $1 in
      -LE | --label-exclude) exclude+="|$2" && shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  setup build test sanitize
  configure_all "$preset"
  compile "$preset"
  run_tests "$preset" --label-exclude "$exclude" "${arguments[@]}"
}
