# ./dev fuzz [SECONDS [NAME...]]
# shellcheck shell=bash

# What is found lies in build/fuzzed/found, and what was learnt in build/fuzzed/corpus: runs go on
# there. Both outlive the build. No input may take as long, or as much memory in one piece, as a
# stranger's manifest may. All of the fuzzer's is bounded too: AddressSanitizer keeps little for that
# of what has been freed, and of who has allocated it.
command_fuzz() {
  setup build test fuzz
  configure fuzz -DROTA_BUILD_TESTS=ON
  compile fuzz fuzzers
  local seconds=${1:-60} name failed=() names=("${@:2}")
  ((${#names[@]})) || for name in tests/fuzz/corpus/*; do names+=("${name##*/}"); done
  for name in "${names[@]}"; do
    say "fuzzing $name for $seconds s"
    mkdir -p "build/fuzzed/corpus/$name" build/fuzzed/found
    ASAN_OPTIONS="quarantine_size_mb=16:malloc_context_size=2${ASAN_OPTIONS:+:$ASAN_OPTIONS}" \
      build/fuzz/tests/"${name}_fuzz" -max_total_time="$seconds" -verbosity=0 -print_final_stats=1 \
      -timeout=2 -malloc_limit_mb=64 -rss_limit_mb=256 \
      -artifact_prefix="build/fuzzed/found/$name-" "build/fuzzed/corpus/$name" \
      "tests/fuzz/corpus/$name" 2>&1 | grep -v -e '^INFO' -e slowest -e 'peak_rss' ||
      failed+=("$name")
  done
  ((${#failed[@]} == 0)) || die "fuzz: found something, see build/fuzzed/found: ${failed[*]}"
}
