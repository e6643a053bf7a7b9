#!/usr/bin/env bash
# `./dev arm --cycles` finds the loops of kernels and of plain C++ in assembly. Method: functions of
# a few lines. Neither a compiler nor llvm-mca runs.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
command -v python3 >/dev/null || { echo "python is not installed" && exit 77; }

cat >check.py <<'PY'
import sys

sys.path.insert(0, sys.argv[1])
import cycles

# A loop in a loop, a loop with roots, and a jump back from the end that is no loop.
body = """\tcbz\tx2, .L1
.L4:
\tmov\tx3, 0
.L3:
\tldp\tq0, q1, [x0]
\tst1\t{v0.4s}, [x0], 16
\tbne\t.L3
\tsubs\tx2, x2, 1
\tb.ne\t.L4
.L2:
\tldr\tq0, [sp, 16]
\tldr\td1, [x0, x3]
\t.loc 1
\tfsqrt\tv0.2s, v1.2s
\tcbnz\tx3, .L2
\tb\t.L5
.L5:
\tldrb\tw1, [x0]
\tldrsh\tw1, [x0]
\tb\t.L2
.L1:
\tret""".splitlines()
inner, roots = cycles.loops_of(body)
assert inner[0].startswith("\tldp") and len(inner) == 3, inner
assert len(roots) == 4, roots

# What a turn reads: pairs, lanes, narrow numbers and words, and nothing from the stack.
assert cycles.bytes_read(inner) == 32
assert cycles.bytes_read(roots) == 8
for line, count in {"ldr\tw1, [x0]": 4, "ldrb\tw1, [x0]": 1, "ldrsh\tw1, [x0]": 2, "ldur\tx1, [x0]": 8,
                    "ldrsw\tx1, [x0]": 4, "ldr\th1, [x0, x3]": 2, "ldp\ts1, s2, [x0, 8]": 8,
                    "ld1\t{v0.16b - v1.16b}, [x0]": 32, "ld1\t{v3.4h}, [x0]": 8,
                    "str\tq1, [x0]": 0, "ldp\tx1, x2, [sp]": 0}.items():
    assert cycles.bytes_read(["\t" + line]) == count, line

kernel = cycles.Kernel("two kinds: a sum", "^void kernel<", 4, 8)
assert cycles.loop_of(kernel, {"void kernel<float>(x)": body, "void other()": body}) == inner
with_roots = kernel._replace(has="fsqrt")
assert cycles.loop_of(with_roots, {"void kernel<float>(x)": body}) == roots
assert cycles.plain_loop_of(kernel, {"two_kinds_a_sum": body}) == (inner, 4)

def refused(call):
    try:
        call()
    except SystemExit as end:
        return end.code
    raise AssertionError("not refused")

twice = {"void kernel<float>(x)": body, "void kernel<double>(x)": body}
assert refused(lambda: cycles.loop_of(kernel, twice)).startswith("cycles.py: two kinds: a sum has no")
assert refused(lambda: cycles.plain_loop_of(kernel._replace(read=5), {"two_kinds_a_sum": body})) == \
    "cycles.py: the plain loop of two kinds: a sum reads 32 bytes"

# Each kernel has its plain loop.
with open(sys.argv[1] + "/plain_loops.cpp", encoding="utf-8") as source:
    plain = source.read()
for each in [*cycles.KERNELS, cycles.BY_INTRINSICS]:
    name = cycles.re.sub(r"\W+", "_", each.title)
    assert cycles.re.search(r"\b" + name + r"\(", plain), name
PY
run 0 python3 -B check.py "$source_tree/cmake/dev"
expect "all loops are found" says_not .
exit "$failures"
