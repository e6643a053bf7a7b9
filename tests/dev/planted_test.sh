#!/usr/bin/env bash
# A planted fault is a patch that names the test that must find it. ./dev planted fails if that test
# does not find the fault, does not exist, or fails without the patch too, or if the patch no longer
# applies. In CI, with --minutes, faults that are out of date are only listed.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree

# plant NAME TEST OLD NEW
plant() {
  cat >"tree/tests/planted/$1.patch" <<EOT
The program ends otherwise.
Found-by: $2

diff --git a/lib/one.cpp b/lib/one.cpp
--- a/lib/one.cpp
+++ b/lib/one.cpp
@@ -1 +1 @@
-$3
+$4
EOT
}
was='int main() { return 0; }'

plant good '^one$' "$was" 'int main() { return 3; }'
run 0 tree/dev planted
expect "a fault is found" says '^good: found by \^one\$$'
expect "the tree is as it was" grep -q 'return 0' tree/lib/one.cpp
run 0 tree/dev planted --changed
expect "what has not changed is not planted again" says 'unchanged: good'
echo >>tree/tests/planted/good.patch
run 0 tree/dev planted --changed
expect "a fault whose patch has changed is planted again" says '^good: found'

run 2 tree/dev planted --changed --minutes soon
expect "the minutes are a number" says "planted: --minutes wants a number, not 'soon'"
echo >>tree/tests/planted/good.patch
run 0 tree/dev planted --changed --minutes 0
expect "after its minutes none is planted" says_not 'good: found'
expect "what was left is listed" grep -qx good tree/build/planted/left
run 0 tree/dev planted --changed --minutes 5
expect "the next run plants it" says '^good: found'
expect "nothing is left then" test ! -s tree/build/planted/left
plant harmless '^one$' "$was" 'int main() { return 0 + 0; }'
run 2 tree/dev planted harmless
expect "a fault that no test finds is named" says '^harmless: NOT FOUND by \^one\$'
plant old '^one$' 'int main() { return 7; }' 'int main() { return 3; }'
run 2 tree/dev planted old
expect "a patch that does not apply is named" says '^old: out of date: does not apply'
plant misspelt '^won$' "$was" 'int main() { return 3; }'
run 2 tree/dev planted misspelt
expect "a fault whose test does not exist is named" says '^misspelt: out of date: \^won\$ is not there'
plant broken '^one$' "$was" 'int main() { return three; }'
run 2 tree/dev planted broken
expect "a fault that does not compile is named" says '^broken: out of date: does not build: '
sed -i '/Found-by/d' tree/tests/planted/old.patch
run 2 tree/dev planted old
expect "a patch that names no test is named" says '^old: names no test'
run 2 tree/dev planted nobody
expect "a fault that does not exist is named" says 'there is no tests/planted/nobody.patch'

run 2 tree/dev planted
expect "all faults are tried" \
  says '^dev: planted: these faults failed, see above: harmless old broken misspelt$'
expect "the good fault is among them" says '^good: found'

run 2 tree/dev planted --changed --minutes 5
expect "in CI, a fault that no test finds is a failure" \
  says '^dev: planted: these faults failed, see above: old harmless$'
rm tree/tests/planted/{harmless,old}.patch
run 0 tree/dev planted --changed --minutes 5
expect "in CI, faults that are out of date are listed" \
  test "$(sort tree/build/planted/out_of_date | paste -sd ' ')" = "broken misspelt"

rm tree/tests/planted/{misspelt,broken}.patch

# This machine skips a test, and has no packages for ARM.
cat >>tree/CMakeLists.txt <<'CMAKE'
add_test(NAME idle COMMAND sh -c "exit 77")
set_tests_properties(idle PROPERTIES SKIP_RETURN_CODE 77)
CMAKE
fake apt-get <<<'exit 1'
plant idle '^idle$' "$was" 'int main() { return 3; }'
plant partly '^(idle|one)$' "$was" 'int main() { return 3; }'
plant armed '^one$' "$was" 'int main() { return 3; }'
sed -i '1a Preset: arm64' tree/tests/planted/armed.patch
run 0 tree/dev planted --changed --minutes 5
expect "a fault whose test is skipped is named" says '^idle: skipped: \^idle\$ is skipped here'
expect "a fault is named for which there are no packages" \
  says '^==> armed: skipped: no packages of arm64 can be fetched$'
expect "both are listed" test "$(sort tree/build/planted/skipped | paste -sd ' ')" = "armed idle"
expect "a fault that one of its tests finds is found" says '^partly: found by'
run 2 tree/dev planted idle
expect "a fault that cannot be tried is not found" says 'these faults failed, see above: idle$'
rm tree/tests/planted/{idle,partly,armed}.patch fake/apt-get

# Faults of the simulation are tested two at a time, each in its own copy of the tree.
cat >>tree/CMakeLists.txt <<'CMAKE'
add_test(NAME simulation COMMAND one)
CMAKE
for name in first second third; do plant "$name" '^simulation$' "$was" 'int main() { return 3; }'; done
plant harmless '^simulation$' "$was" 'int main() { return 0 + 0; }'
run 2 tree/dev planted
expect "all faults of the simulation are tried" \
  test "$(grep -cE '^(first|second|third): found by' output)" = 3
expect "a fault of the simulation that no test finds is named" says 'see above: harmless$'
rm tree/tests/planted/{first,second,third,harmless}.patch

# The test fails the first time that it runs, without the fault.
cat >>tree/CMakeLists.txt <<'CMAKE'
add_test(NAME late COMMAND sh -c "\$0 && test -e tried || ! touch tried" $<TARGET_FILE:one>)
CMAKE
plant good '^late$' "$was" 'int main() { return 3; }'
run 0 tree/dev planted good
expect "a test that fails without the fault is tried again" says '^good: found by \^late\$$'

# With the fault, the test fails the second time that it runs.
cat >>tree/CMakeLists.txt <<'CMAKE'
add_test(NAME seldom COMMAND sh -c "\$0 || (! test -e seen && touch seen)" $<TARGET_FILE:one>)
CMAKE
plant good '^seldom$' "$was" 'int main() { return 3; }'
run 0 tree/dev planted good
expect "a fault that its test does not always find is found" says '^good: found by \^seldom\$$'

sed -i 's/return 0/return 5/' tree/lib/one.cpp
plant good '^one$' 'int main() { return 5; }' 'int main() { return 3; }'
run 2 tree/dev planted
expect "a test that fails anyway finds nothing" says '^good: \^one\$ fails, without the fault'
exit "$failures"
