#!/usr/bin/env bash
# ./dev planted finds what is to be found, and fails on each fault that is not, no longer applies,
# or whose test is not there or fails anyway.
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
expect "a changed patch is" says '^good: found'

plant harmless '^one$' "$was" 'int main() { return 0 + 0; }'
run 2 tree/dev planted harmless
expect "one that nothing finds is named" says '^harmless: NOT FOUND by \^one\$'
plant old '^one$' 'int main() { return 7; }' 'int main() { return 3; }'
run 2 tree/dev planted old
expect "one that does not apply is named" says '^old: does not apply'
plant misspelt '^won$' "$was" 'int main() { return 3; }'
run 2 tree/dev planted misspelt
expect "one without a test is named" says '^misspelt: \^won\$ is not there'
plant broken '^one$' "$was" 'int main() { return three; }'
run 2 tree/dev planted broken
expect "one that does not compile is named" says '^broken: does not build: '
sed -i '/Found-by/d' tree/tests/planted/old.patch
run 2 tree/dev planted old
expect "one that names no test is named" says '^old: names no test'
run 2 tree/dev planted nobody
expect "one that is not there is named" says 'there is no tests/planted/nobody.patch'

run 2 tree/dev planted
expect "all are tried" says '^dev: planted: see above: broken harmless misspelt old$'
expect "the good one among them" says '^good: found'

rm tree/tests/planted/{harmless,old,misspelt,broken}.patch

# Faults of the simulation go two at once, each in a copy of its own.
cat >>tree/CMakeLists.txt <<'CMAKE'
add_test(NAME simulation COMMAND one)
CMAKE
for name in first second third; do plant "$name" '^simulation$' "$was" 'int main() { return 3; }'; done
plant harmless '^simulation$' "$was" 'int main() { return 0 + 0; }'
run 2 tree/dev planted
expect "all of these are tried" test "$(grep -cE '^(first|second|third): found by' output)" = 3
expect "one that nothing finds is named among these" says 'see above: harmless$'
rm tree/tests/planted/{first,second,third,harmless}.patch
sed -i 's/return 0/return 5/' tree/lib/one.cpp
plant good '^one$' 'int main() { return 5; }' 'int main() { return 3; }'
run 2 tree/dev planted
expect "a test that fails anyway finds nothing" says '^good: \^one\$ fails, without the fault'
exit "$failures"
