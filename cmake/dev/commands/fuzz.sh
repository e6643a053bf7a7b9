# ./dev fuzz [SECONDS [NAME...]]
# shellcheck shell=bash

# Findings are in build/fuzzed/found. Inputs that reached new code are in build/fuzzed/corpus, where
# the next run continues. Both folders outlive the build. The limits of time and memory for one
# input are those of `rotarun render --check`, whose manifests may come from strangers. The memory
# of the fuzzer as a whole is limited too. So AddressSanitizer gets a small quarantine for freed
# memory, and records short call stacks.
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
  ((${#failed[@]} == 0)) || die "fuzz: failures were found, see build/fuzzed/found: ${failed[*]}"
}
