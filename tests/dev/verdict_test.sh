#!/usr/bin/env bash
# Tests the verdict of .ci/run: it names failures and skips. A skip that is not allowed is a
# failure. A lane that was left out for lack of time comes first in the next run.
# ShellCheck does not know that the quoted scripts expand their own variables.
# shellcheck disable=SC2016

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree
mkdir -p tree/tests/cluster/provider
echo "built=$work" >tree/tests/cluster/provider/place.sh
sed -i 's/^  ((EUID == 0)) || /  true || /' tree/.ci/run  # Makes no nodes: root is not needed.

# Replaces ./dev: runs ctest over the tests of the folder lane, for all lanes that have tests.
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
expect "a skip that is allowed is told" \
  says '^##### skipped: tests: partly: Moon.Rises: the moon is full'
expect "the last line counts" \
  test "$(tail -n 1 output)" = "18 passed, 0 failed, 8 skipped"
run 0 tree/.ci/run
expect "a lane that need not run is a skip with its name" \
  says '^##### skipped: tests in a cluster: it has passed, and nothing in its list has changed$'

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
expect "8 lanes fail three times, and 2 pass" \
  test "$(tail -n 1 output)" = "10 passed, 24 failed"
expect "each lane's time is told" test "$(grep -c '^ *[0-9]* s  tests$' output)" = 1

rm -r lane/CTestTestfile.cmake kept
add good true
add late '[[ -e tried ]] || { touch tried; echo too late; exit 1; }'
run 0 tree/.ci/run
expect "a test that passes when it runs again is told, with its first output" \
  test "$(grep -A 1 '^##### unsteady: late of tests$' output | tail -n 1)" = "too late"
expect "such a test counts as passed" test "$(tail -n 1 output)" = "18 passed, 0 failed"
rm -r lane/CTestTestfile.cmake lane/tried kept
add good true
add race '[[ -e tried ]] || { touch tried; echo "SUMMARY: ThreadSanitizer: data race"; exit 1; }'
run 1 tree/.ci/run
expect "what a sanitizer has found is a failure" says '^##### failed: race of tests$'
rm lane/tried

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

# A lane may be left out because of the time limit. This is reported, and is allowed once. The lane
# comes first in the next run.
rm -rf kept lane/CTestTestfile.cmake calls
add good true
ROTA_CI_MINUTES=10 run 0 tree/.ci/run
expect "the cluster's tests are left out by name" \
  says '^##### skipped: tests in a cluster: left out once, as it takes 12 minutes and there are'
expect "the cluster's tests were not run" bash -c '! grep -q cluster calls'
rm calls
ROTA_CI_MINUTES=10 run 1 tree/.ci/run
expect "leaving them out twice is a failure" \
  says '^##### failed: skipped.*: tests in a cluster: left out again'
rm calls
run 0 tree/.ci/run
expect "the cluster's tests are the first of the next run" \
  test "$(head -n 1 calls)" = "cluster test"
expect "the cluster's tests run once" test "$(grep -c cluster calls)" = 1
rm calls
run 0 tree/.ci/run
expect "the cluster's tests are owed no more" test "$(head -n 1 calls)" = "test --all"

# A lane that takes too long is stopped, and none of its processes remains.
rm -r kept
add slow "set -m; sleep 997 & wait"
sed -i 's/^seconds=.*/seconds=3/' tree/.ci/run
sed -i 's/^grace=.*/grace=2  /' tree/.ci/count.sh
run 1 tree/.ci/run
expect "the lane that was stopped is told" \
  says '^##### failed: skipped.*: tests: cut off, as the run has had its 0 minutes$'
expect "no process of the stopped lane stays" bash -c '! grep -qszx "99[7]" /proc/[0-9]*/cmdline'
exit "$failures"
