#!/usr/bin/env bash
# Tests the verdict of .ci/run: it names failures, unsteady tests and skips. A skip that is not
# allowed is a failure. A lane that was left out for lack of time comes first in the next run.
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
if [[ \$1 == setup ]]; then
  echo "\${*:2}" >>"$work/setups"
  [[ ! -e $work/setup_fails ]]
  exit
fi
echo "\$1 \$2" >>"$work/calls"
case \$1 in
  check)
    cp "$work/setups" "$work/setups_before_check"
    ! cat "$work/findings" 2>/dev/null
    exit
    ;;
  gpu) exit ;;
  planted) mkdir -p build/planted && cp "$work/out_of_date" build/planted; exit ;;
esac
while [[ \$1 != -R && \$1 != --output-junit ]]; do shift; done
cd "$work/lane"
exec ctest --output-on-failure "\$@"
SH
fake go <<<'exit 0'
fake apt-get <<SH
[[ \$1 != indextargets ]] || { echo http://mirror/debian; exit; }
[[ ! -e $work/offline ]]
SH

mkdir lane
: >out_of_date  # The names of planted faults.
add() {  # NAME SCRIPT [PROPERTY VALUE]
  echo "$2" >"lane/$1.sh"
  echo "add_test([[$1]] bash [[$1.sh]])" >>lane/CTestTestfile.cmake
  [[ -z ${3:-} ]] ||
    echo "set_tests_properties([[$1]] PROPERTIES $3 \"$4\")" >>lane/CTestTestfile.cmake
}

add good true
add partly 'printf "f.cpp:3: Skipped\nthe moon is full & <big>\n\n[  SKIPPED ] Moon.Rises (0 ms)\n"
seq 2000'
run 1 tree/.ci/run
expect "the CUDA toolkit is installed before clang-tidy runs" grep -qx cuda setups_before_check
expect "a skip within a test that passes is told, and is not allowed" \
  says '^##### failed: skipped, .*: tests: partly: Moon.Rises: the moon is full & <big>$'

echo 'tests.*: partly: Moon.Rises: the moon is full.*' >>tree/.ci/allowed_skips
echo 'fuzzers.*: partly: Moon.Rises: the moon is full.*' >>tree/.ci/allowed_skips
rm -rf kept calls
run 0 tree/.ci/run
expect "a skip that is allowed is told" \
  says '^##### skipped: tests: partly: Moon.Rises: the moon is full'
expect "the last line counts" \
  test "$(tail -n 1 output)" = "18 passed, 0 failed, 8 skipped"
run 0 tree/.ci/run
expect "a lane that need not run is a skip with its name" \
  says '^##### skipped: tests in a cluster: it has passed, and nothing in its list has changed$'
for sanitizers in 'AddressSanitizer and UndefinedBehaviorSanitizer' ThreadSanitizer; do
  expect "the tests under $sanitizers need not run again" says \
    "^##### skipped: tests under $sanitizers: it has passed, and nothing in its list has changed\$"
done
expect "the tests under ThreadSanitizer ran once" test "$(grep -cx 'sanitize tsan' calls)" = 1
expect "all tests ran twice" test "$(grep -cx 'test --all' calls)" = 2

rm lane/CTestTestfile.cmake
add good true
add seen 'echo "f.cpp:3: Skipped"; echo why; echo "[  SKIPPED ] Moon.Sets (0 ms)"' \
  SKIP_REGULAR_EXPRESSION 'SKIPPED'
add bad 'echo of no use; exit 3'
add long 'echo "f.cpp:3: Failure"; echo "Expected: spring"; seq 2000; exit 1'
rm -rf kept
echo old >out_of_date
run 1 tree/.ci/run
expect "a test that failed is told at the end, with its output" \
  test "$(grep -A 1 '^##### failed: bad of tests$' output | tail -n 1)" = "of no use"
expect "what GoogleTest says is told, also where much is printed after it" \
  test "$(grep -A 2 '^##### failed: long of tests$' output | tail -n 1)" = "Expected: spring"
expect "a skip that is not allowed counts as a failure" \
  says 'failed: skipped.*: tests: seen: Moon.Sets: why$'
expect "8 lanes fail three times, and 2 pass" \
  test "$(tail -n 1 output)" = "10 passed, 24 failed, 1 skipped"
expect "each lane's time is told" test "$(grep -c '^ *[0-9]* min  tests$' output)" = 1
expect "planted faults that are out of date are named, and are no failure" \
  says '^##### skipped: planted faults: out of date: old$'
: >out_of_date
sed -n '/^##### verdict$/,$p' output >verdict
expect "the verdict has at most 40 lines" test "$(wc -l <verdict)" -le 40
expect "the verdict names what failed, without what it said" \
  test "$(sed -n 3,4p verdict | paste -sd ' ')" = "failed: bad of tests failed: long of tests"
expect "the verdict says how much more failed" grep -q '^and 15 more, see above$' verdict
expect "the verdict counts skips by the row that allows them" \
  grep -qx ' *1 skipped: planted faults: out of date: \.\*' verdict
expect "the verdict names planted faults that are out of date" grep -qx 'out of date: old' verdict

# The verdict has a place for skipped lanes, however many tests are skipped.
(
  cd tree && source .ci/count.sh
  for reason in 'no tmpfs can be mounted here' 'too few descriptors' 'pipes have no limit here' \
    'no first interface here' 'munged is not installed' 'no wheel of Open MPI is installed' \
    "no MPI with the standard's ABI" 'this host has a key of its own'; do
    for test in one_test two_test; do skip "tests: $test" "$reason"; done
  done
  skip "planted faults" "3 left after 6 minutes"
  verdict
) >output
expect "the rows of lanes come first" test "$(sed '1,/^##### verdict$/d' output | head -n 1)" = \
  "    1 skipped: planted faults: [0-9]+ left after [0-9]+ minutes"
expect "the other rows are counted" says '^and 2 more, see above$'

# What tests say on a machine that lacks something is allowed.
allows() { (cd tree && source .ci/count.sh && row_of "$1" "$2"); }
reason='no tmpfs can be mounted here'
for name in checkpoint/faults exports/summary_writer launcher/without_proc os/process_tree; do
  expect "$name skips by name" \
    grep -q "GTEST_SKIP() << \"$reason" "$source_tree/tests/${name}_test.cpp"
done
expect "a skip without a tmpfs is allowed" allows "tests: a_test: A.Test" "$reason"
expect "also under a sanitizer" allows "tests under ThreadSanitizer: a_test: A.Test" "$reason"
while read -r reason; do
  expect "dev.ccache_test may say: $reason" allows "tests: dev.ccache_test" "left out: $reason"
done < <(sed -n 's/^ *left_out="\(.*\)"$/\1/p' "$source_tree/tests/dev/ccache_test.sh")
expect "dev.ccache_test gives three reasons" \
  test "$(grep -c '^ *left_out="' "$source_tree/tests/dev/ccache_test.sh")" = 3

# Tests that fail are tried again.
once='[[ ! -e $0.ran ]] && touch $0.ran &&'  # The first time that a test runs.
afresh() { rm -rf lane/{CTestTestfile.cmake,*.ran} kept; }
mostly_good() { afresh && add good true && add 'other(2)' true; }

mostly_good
add late "$once { echo too late; exit 1; } || true"
run 0 tree/.ci/run
expect "a test that passes when it is tried again is told, with its first output" \
  test "$(grep -A 1 '^##### unsteady: late of tests$' output | tail -n 1)" = "too late"
expect "the verdict names it" says '^unsteady: late of tests \(1 times on this machine\)$'
expect "such a test counts as passed" test "$(tail -n 1 output)" = "26 passed, 0 failed"
rm lane/*.ran
run 0 tree/.ci/run
expect "its times on this machine are counted" \
  says '^unsteady: late of tests \(2 times on this machine\)$'

mostly_good
add 'a+b(c)<d&e>' "$once exit 1 || [[ ! -e \$0.other ]] && touch \$0.other && exit 1 || true"
run 0 tree/.ci/run
expect "a test is tried again twice" says '^unsteady: a\+b\(c\)<d&e> of tests'
rm lane/*.other
expect "only the test that failed is tried again" test "$(grep -c 'Start .*: good$' output)" = 8

mostly_good
add partly "$once "'printf "f.cpp:3: Skipped\nno reason\n\n[  SKIPPED ] Moon.Sets (0 ms)\n" || true'
run 0 tree/.ci/run
expect "a skip that is not allowed is tried again" \
  says '^##### unsteady: partly of tests: skipped, partly: Moon.Sets: no reason$'

mostly_good
add both "$once "'printf "f.cpp:3: Skipped\nno reason\n\n[  SKIPPED ] %s (0 ms)\n" Moon.Sets Sun.Sets || true'
run 0 tree/.ci/run
expect "a test with two such skips is told once" \
  test "$(grep '^unsteady: ' output)" = "unsteady: both of tests (1 times on this machine)"

mostly_good
add basis "$once exit 1 || true" FIXTURES_SETUP ground
add upon true FIXTURES_REQUIRED ground
run 0 tree/.ci/run
expect "a test whose fixture failed is tried again" \
  says '^##### unsteady: upon of tests: skipped, upon: Failed test dependencies: basis$'
expect "such tests count as passed" test "$(tail -n 1 output)" = "34 passed, 0 failed"

# is_final WHAT NAME...: the failures of these tests are not tried again.
is_final() {
  run 1 tree/.ci/run
  for name in "${@:2}"; do
    expect "not tried again: $1" says "^##### failed: $name of tests\$"
  done
  expect "$1 is not unsteady" says_not '^unsteady'
}

mostly_good
add bad 'echo each time; false'
add late "$once exit 1 || true"
run 1 tree/.ci/run
expect "a test that always fails is a failure" says '^##### failed: bad of tests$'
expect "it is not unsteady" says_not '^##### unsteady: bad'
expect "what passes beside it is unsteady" says '^##### unsteady: late of tests$'
expect "what passes beside it is no failure" says_not '^##### failed: late'
expect "what passes beside it is counted" grep -qx late kept/unsteady
expect "the last line counts it as passed, and 8 lanes fail with one test" \
  test "$(tail -n 1 output)" = "26 passed, 8 failed"
expect "it is tried three times" test "$(grep -c '^each time$' <(sed -n '1,/^##### [0-9]* s: tests$/p' output))" = 3

mostly_good
add race "$once { echo 'SUMMARY: ThreadSanitizer: data race'; exit 1; } || true"
is_final "a report of a sanitizer" race
mostly_good
add shift "$once { echo 'f.cpp:3:1: runtime error: shift exponent'; exit 1; } || true"
is_final "a report of UndefinedBehaviorSanitizer" shift
mostly_good
add freed "$once { echo 'double free or corruption (out)'; kill -ABRT \$\$; } || true"
is_final "a report of the allocator" freed
mostly_good
add wild "$once kill -SEGV \$\$ || true"
is_final "a wrong access" wild
mostly_good
add unmapped "$once kill -BUS \$\$ || true"
is_final "an access of unmapped memory" unmapped
mostly_good
add shy "$once exit 1 || "'printf "f.cpp:3: Skipped\nno tmpfs can be mounted here\n\n[  SKIPPED ] Moon.Sets (0 ms)\n"' \
  SKIP_REGULAR_EXPRESSION SKIPPED
is_final "a test that is skipped when it is tried again" shy
for label in proof sim style; do
  mostly_good
  add timeless "$once { echo timed out after 2 s; exit 1; } || true" LABELS "$label;long"
  is_final "the label $label" timeless
done
mostly_good
add sum "$once { echo '--deadline 30 --timeout 60: 3 is not 4'; exit 1; } || true" LABELS ranks
is_final "a wrong value of ranks" sum
mostly_good
for number in 1 2 3 4 5 6 7; do add "late$number" "$once exit 1 || true"; done
is_final "many failures" late1 late7

mostly_good
number=0
while read -r said; do
  add "sum$((++number))" "$once { echo '$said'; exit 1; } || true" LABELS ranks
done <<'SAID'
rank 0 (a): receiving from rank 1 (b) (step 1 of 2, 0 of 4000 bytes) timed out after 0.5 s
rank 0: no connection with rank 1 at the deadline; rank 1 at 127.0.0.1:5: refused
device 0 did not do its part within 500 ms
rotarun: --timeout has passed; still running: rank 1
SAID
run 0 tree/.ci/run
for name in sum1 sum2 sum3 sum4; do
  expect "a deadline of ranks is tried again" says "^unsteady: $name of tests"
done

# kind_of prints the kind of the failure of a test that has said what is in standard input.
kind_of() {
  {
    printf '<testcase name="a" status="fail">\n<system-out>'
    sed 's/&/\&amp;/g; s/</\&lt;/g'
    printf '</system-out>\n</testcase>\n'
  } | awk -f tree/.ci/results.awk | sed -n 's/^failed\ta\t//p'
}

# at_deadlines prints, for each place in the sources that throws an Error at a deadline, its text,
# with "7 s" for each value. The PMIx server's texts are elsewhere in their file.
at_deadlines() {
  find "$source_tree"/{lib,launcher} -name '*.cpp' -print0 | xargs -0 awk '
    /throw Error\(ErrorCode::kTimeout/ { is_inside = 1; code = "" }
    is_inside { code = code $0 }
    is_inside && /;$/ {
      text = ""
      while (match(code, /"[^"]*"/)) {
        text = text substr(code, RSTART + 1, RLENGTH - 2) "7 s"
        code = substr(code, RSTART + RLENGTH)
      }
      print text
      is_inside = 0
    }' | grep -v "the launcher's PMIx server: 7 s"
  sed -n 's/.*wait_for(calls_, .*deadline, "\([^"]*\)".*/\1/p' "$source_tree/lib/stores/pmix_store.cpp" |
    sed "s/^/the launcher's PMIx server: /"
  echo "the launcher's PMIx server: reading pmix.job.size takes long"
}
at_deadlines >deadlines
expect "there are texts of deadlines" test "$(wc -l <deadlines)" -ge 18
while read -r said; do
  expect "this is a deadline: $said" test "$(kind_of <<<"$said")" = late
done <deadlines

printf '%s\n' ThreadSanitizer 'a: runtime error: b' 'free(): a' 'malloc(): a' 'double free' \
  '*** stack smashing detected' >output
while read -r said; do
  expect "this is damage: ${said:0:5}" test "$(kind_of <<<"$said")" = damage
done <output
shown=$(expect "AddressSanitizer is not named" false)
expect "no damage is what a small tree has printed" test "$(kind_of <<<"$shown")" = wrong

# is_kind KIND WHAT: what a test has said, from standard input, is a failure of this kind.
is_kind() { expect "$2" test "$(kind_of)" = "$1"; }
is_kind wrong "a wrong value beside a deadline of another rank" <<'SAID'
[ RUN      ] Sum.IsExact
f.cpp:3: Failure
Expected equality of these values:
unknown file: Failure
C++ exception with description "rank 0: receiving timed out after 20 s" thrown in the test body.
[  FAILED  ] Sum.IsExact (9 ms)
SAID
is_kind wrong "a wrong value, and then a deadline of rotarun" <<'SAID'
f.cpp:3: Failure
Expected equality of these values:
[  FAILED  ] Sum.IsExact (9 ms)
rotarun: rank 1 failed: receiving from rank 0 timed out after 20 s
SAID
is_kind wrong "a wrong value in the test after a deadline" <<'SAID'
[ RUN      ] Sum.Ends
waited in vain for 150 s: the program did not end
[  FAILED  ] Sum.Ends (9 ms)
[ RUN      ] Sum.IsExact
f.cpp:9: Failure
Expected equality of these values:
[  FAILED  ] Sum.IsExact (9 ms)
SAID
is_kind late "an exception at a deadline" <<'SAID'
unknown file: Failure
C++ exception with description "rank 0: receiving timed out after 20 s" thrown in the test body.
[  FAILED  ] Sum.IsExact (9 ms)
SAID
is_kind late "an exit code, and the deadline that explains it" <<'SAID'
f.cpp:3: Failure
Expected equality of these values:
  result.exit_code
rotarun: rank 1 failed: receiving from rank 0 timed out after 20 s
f.cpp:4: Failure
Expected equality of these values:
  result.out
[  FAILED  ] Sum.IsExact (9 ms)
SAID
is_kind late "a program that does not end" <<'SAID'
[ RUN      ] Sum.Ends
waited in vain for 150 s: the program did not end
f.cpp:3: Failure
Value of: result.was_in_time
[  FAILED  ] Sum.Ends (9 ms)
SAID

mostly_good
add hanging "$once sleep 60 || true" LABELS proof
echo 'set_tests_properties(hanging PROPERTIES TIMEOUT 1)' >>lane/CTestTestfile.cmake
run 0 tree/.ci/run
expect "a timeout of a proof is tried again" says '^unsteady: hanging of tests'

afresh
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
  test "$(sed -n 4p calls)" = "cluster test"
expect "so are the sanitizers" \
  test "$(sed '/^test --all$/q' calls | grep -cx -e 'sanitize [at]san')" = 3  # One for the corpus.
expect "they run once" test "$(grep -cx -e 'sanitize [at]san' calls)" = 3

# A lane may be left out because of the time limit. This is reported, and is allowed once. The lane
# comes first in the next run.
rm -rf kept lane/CTestTestfile.cmake calls
add good true
ROTA_CI_MINUTES=10 run 0 tree/.ci/run
expect "the cluster's tests are left out by name" \
  says '^##### skipped: tests in a cluster: left out once, as it takes 12 minutes and there are'
expect "the cluster's tests were not run" bash -c '! grep -q cluster calls'
expect "the sanitizers are left out by name" \
  says '^##### skipped: tests under ThreadSanitizer: left out once, as it takes 15 minutes'
expect "they were not run" bash -c '! grep -qx "sanitize tsan" calls'
rm calls
ROTA_CI_MINUTES=10 run 1 tree/.ci/run
expect "leaving them out twice is a failure" \
  says '^##### failed: skipped.*: tests in a cluster: left out again'
expect "so is leaving the sanitizers out twice" \
  says '^##### failed: skipped.*: tests under ThreadSanitizer: left out again'
rm calls
run 0 tree/.ci/run
expect "the cluster's tests are the first of the next run" \
  test "$(sed -n 2p calls)" = "cluster test"
expect "the cluster's tests run once" test "$(grep -c cluster calls)" = 1
expect "the sanitizers run before all tests" \
  test "$(sed -n 3,5p calls | paste -sd ,)" = 'sanitize asan,sanitize tsan,test --all'
rm calls
run 0 tree/.ci/run
expect "the cluster's tests are owed no more" test "$(sed -n 2p calls)" = "test --all"

# Without Debian's packages for ARM, the tests on ARM are skipped by name.
rm -rf kept calls
touch offline
run 0 tree/.ci/run
expect "the tests on ARM are skipped if no packages can be fetched" \
  says '^##### skipped: tests on ARM: no packages of arm64 can be fetched$'
expect "the tests on ARM were not run" bash -c '! grep -q ^arm calls'
for architecture in arm64 armhf; do
  mkdir -p "kept/arm/$architecture"
  (cd tree && source cmake/dev/sysroot.sh && echo "${sysroot_packages[*]}") \
    >"kept/arm/$architecture/complete"
done
run 0 tree/.ci/run
expect "the tests on ARM run with libraries that were extracted before" grep -qx 'arm arm64' calls
rm -r kept calls
fake dpkg-query <<'SH'
for package in "${@:3}"; do [[ $package == qemu-user ]] || echo "installed $package"; done
SH
run 0 tree/.ci/run
expect "the tests on ARM are skipped without an emulator" \
  says '^##### skipped: tests on ARM: there is no qemu-user$'
expect "the tests on ARM were not run without an emulator" bash -c '! grep -q ^arm calls'
rm offline

# Without the wheels of the CUDA toolkit, the kernels for GPUs are skipped by name.
rm -rf kept calls
mkdir tree/cmake/cuda
echo 'compiler==1 --hash=sha256:0' >tree/cmake/cuda/requirements.txt
touch setup_fails
run 0 tree/.ci/run
rm setup_fails
expect "a run goes on if the toolkit cannot be installed" grep -q '^check ' calls
expect "the kernels are skipped if no wheels can be fetched" says \
  '^##### skipped: kernels for all GPUs: the wheels of the CUDA toolkit cannot be fetched$'
expect "no kernels were compiled" bash -c '! grep -q ^gpu calls'
folder=$(cd tree && source cmake/dev/cuda.sh && cuda_folder)
mkdir -p "$folder" && touch "$folder/complete"
run 0 tree/.ci/run
expect "the kernels are compiled with a toolkit that was installed before" \
  grep -qx 'gpu --all-architectures' calls
rm calls
run 0 tree/.ci/run
expect "the kernels are not compiled again" says \
  '^##### skipped: kernels for all GPUs: it has passed, and nothing in its list has changed$'
rm -r tree/cmake/cuda

# A lane that takes too long is stopped, and none of its processes remains.
rm -r kept
add slow "set -m; sleep 997.$$ & wait"
sed -i 's/^seconds=.*/seconds=3/' tree/.ci/run
sed -i 's/^grace=.*/grace=2  /' tree/.ci/count.sh
run 1 tree/.ci/run
expect "the lane that was stopped is told" \
  says '^##### failed: skipped.*: tests: cut off, as the run has had its 0 minutes$'
expect "no process of the stopped lane stays" \
  bash -c '! grep -qszxF -e "997.$0" /proc/[0-9]*/cmdline' $$

# The cluster's tests may be cut off where Kubernetes was never built. They have not passed then.
echo "built=$work/none" >tree/tests/cluster/provider/place.sh
rm kept/passed/owed/{asan,fuzz,tsan}
run 1 tree/.ci/run
expect "the cluster's tests are cut off by name" \
  says '^##### skipped: tests in a cluster: cut off, as the run has had its 0 minutes$'
expect "what was cut off has not passed" test ! -e kept/passed/lanes/cluster
expect "what was cut off is still owed" test -e kept/passed/owed/cluster
exit "$failures"
