#!/usr/bin/env bash
# What .ci/run makes of its lanes: failures and skips by name, a skip that is not allowed is a
# failure, and what the clock leaves out is the first of the next run.
# Functions are called by expect, and scripts expand their own variables.
# shellcheck disable=SC2016

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree
mkdir -p tree/tests/cluster/provider
echo "built=$work" >tree/tests/cluster/provider/place.sh
sed -i 's/^  ((EUID == 0)) || /  true || /' tree/.ci/run  # These nodes are made by nobody.

# In place of ./dev: ctest over the tests of the folder lane, for all lanes that have tests.
cat >tree/dev <<SH
#!/bin/bash
cd "$work/lane"
[[ \$1 != setup ]] || exit
echo "\$1 \$2" >>"$work/calls"
case \$1 in
  check) ! cat "$work/findings" 2>/dev/null; exit ;;
  planted) exit ;;
esac
while [[ \$1 != --output-junit ]]; do shift; done
exec ctest --output-on-failure "\$@"
SH
fake go <<<'exit 0'

mkdir lane
add() {  # NAME SCRIPT [PROPERTY VALUE]
  echo "$2" >"lane/$1.sh"
  echo "add_test($1 bash $1.sh)" >>lane/CTestTestfile.cmake
  [[ -z ${3:-} ]] || echo "set_tests_properties($1 PROPERTIES $3 \"$4\")" >>lane/CTestTestfile.cmake
}

add good true
add partly 'printf "f.cpp:3: Skipped\nthe moon is full & <big>\n\n[  SKIPPED ] Moon.Rises (0 ms)\n"
seq 2000'
run 1 tree/.ci/run
expect "a skip within a test that passes is told, and is not allowed" \
  says '^##### failed: skipped, .*: tests: partly: Moon.Rises: the moon is full & <big>$'

echo 'tests.*: partly: Moon.Rises: the moon is full.*' >>tree/.ci/allowed_skips
echo 'fuzzers.*: partly: Moon.Rises: the moon is full.*' >>tree/.ci/allowed_skips
rm -rf kept
run 0 tree/.ci/run
expect "an allowed one is told" says '^##### skipped: tests: partly: Moon.Rises: the moon is full'
expect "the last line counts" \
  test "$(tail -n 1 output)" = "14 passed, 0 failed, 6 skipped"
run 0 tree/.ci/run
expect "a lane that need not run is a skip with its name" \
  says '^##### skipped: tests in a cluster: it has passed with all that its list names as it is$'

rm lane/CTestTestfile.cmake
add good true
add seen 'echo "f.cpp:3: Skipped"; echo why; echo "[  SKIPPED ] Moon.Sets (0 ms)"' \
  SKIP_REGULAR_EXPRESSION 'SKIPPED'
add bad 'echo of no use; exit 3'
add long 'echo "f.cpp:3: Failure"; echo "Expected: spring"; seq 2000; exit 1'
rm -rf kept
run 1 tree/.ci/run
expect "a test that failed is told at the end, with its output" \
  test "$(grep -A 1 '^##### failed: bad of tests$' output | tail -n 1)" = "of no use"
expect "what GoogleTest says is told, also where much is printed after it" \
  test "$(grep -A 2 '^##### failed: long of tests$' output | tail -n 1)" = "Expected: spring"
expect "a skip that is not allowed counts as a failure" \
  says 'failed: skipped.*: tests: seen: Moon.Sets: why$'
expect "6 lanes fail three times, and 2 pass" \
  test "$(tail -n 1 output)" = "8 passed, 18 failed"
expect "each lane's time is told" test "$(grep -c '^ *[0-9]* s  tests$' output)" = 1

rm lane/CTestTestfile.cmake
add good true
{ echo 'f.cpp:3:1: error: a slip [bugprone-slip]' && seq 2000; } >findings
run 1 tree/.ci/run
expect "what a linter has found is told at the end" \
  test "$(grep -A 1 '^##### failed: formatting and lint$' output | tail -n 1)" = "$(head -n 1 findings)"
rm findings

rm -r kept calls lane/CTestTestfile.cmake
add bad false
run 1 tree/.ci/run
rm calls lane/CTestTestfile.cmake
add good true
run 0 tree/.ci/run
expect "what has failed is the first of the next run" \
  test "$(sed -n 3p calls)" = "cluster test"

# The clock. What it leaves out is told and allowed once, and comes first then.
rm -rf kept lane/CTestTestfile.cmake calls
add good true
ROTA_CI_MINUTES=10 run 0 tree/.ci/run
expect "the cluster's tests are left out by name" \
  says '^##### skipped: tests in a cluster: left out once, as it takes 12 minutes and there are'
expect "they were not run" bash -c '! grep -q cluster calls'
rm calls
ROTA_CI_MINUTES=10 run 1 tree/.ci/run
expect "not twice" says '^##### failed: skipped.*: tests in a cluster: left out again'
rm calls
run 0 tree/.ci/run
expect "they are the first of the next run" test "$(head -n 1 calls)" = "cluster test"
expect "and run once" test "$(grep -c cluster calls)" = 1
rm calls
run 0 tree/.ci/run
expect "and are owed no more" test "$(head -n 1 calls)" = "test --all"

# A lane that lasts too long is cut off. Nothing of it stays.
rm -r kept
add slow "set -m; sleep 997 & wait"
sed -i 's/^seconds=.*/seconds=3/' tree/.ci/run
sed -i 's/^grace=.*/grace=2  /' tree/.ci/count.sh
run 1 tree/.ci/run
expect "it is told" \
  says '^##### failed: skipped.*: tests: cut off, as the run has had its 0 minutes$'
expect "nothing stays" bash -c '! grep -qszx "99[7]" /proc/[0-9]*/cmdline'
exit "$failures"
