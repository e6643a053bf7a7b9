"""Lists how many cycles llvm-mca counts for the loops of the NEON kernels: cycles.py BUILD

llvm-mca models a processor, but neither its caches nor its memory. It counts the cycles of a loop
whose data are in the first-level cache. No processor ran anything. `plain` is what it counts for
the loop that GCC makes of plain C++: plain_loops.cpp. The bound is the time that the busiest unit
of the processor needs for the loads, the stores and the arithmetic of the kernel's loop, if no
instruction waits for another one. Below the table are the cycles of a loop of plain intrinsics. The
last line lists the kernels that take longer than the plain loop.
"""

import json
import pathlib
import re
import subprocess
import sys
import typing

CPUS = {"A53": "cortex-a53", "A72": "cortex-a72", "A76": "neoverse-n1"}  # There is no A76 model.
TURNS = 200
ELEMENTS = 16  # All figures are for so many.


class Kernel(typing.NamedTuple):
    title: str     # In plain_loops.cpp, a function has this name.
    pattern: str   # The name of the kernel's function.
    elements: int  # Of one turn of the function's first loop.
    read: int      # Bytes that the plain loop reads for each element.
    has: str = ""  # If the first loop is another one: an instruction that the loop has.


KERNELS = [
    Kernel("float32 sum", r"^void combine<Same<float>, Sum,", 32, 8),
    Kernel("float32 sum, to both", r"^void combine_to_both<Same<float>, Sum,", 32, 8),
    Kernel("float32 scale", r"^void scale<Same<float>,", 32, 4),
    Kernel("float16 sum", r"^void combine<Float16Lanes, Sum,", 32, 4),
    Kernel("bfloat16 sum", r"^void combine<Bfloat16Lanes, Sum,", 32, 4),
    Kernel("float32 minimum", r"^void combine<Same<int>, ByBits<2139095040, Min>,", 16, 8),
    Kernel("int8 decode and add", r"^void decode<OfInt8<false>, Add>", 16, 5),
    Kernel("float16 decode and add", r"^void decode<OfHalves<Float16Lanes>, Add>", 16, 6),
    Kernel("bfloat16 decode and add", r"^void decode<OfHalves<Bfloat16InLine>, Add>", 16, 6),
    Kernel("int8 encode: largest magnitude", r"^OfInt8<false>::encode", 16, 4),
    Kernel("int8 encode: rounded steps", r"^OfInt8<false>::encode", 16, 4, "fmul"),
    Kernel("float16 encode",
           r"^(void encode<OfHalves<Float16Lanes>|OfHalves<Float16Lanes>::encode)", 16, 4, "fcvtn"),
    Kernel("bfloat16 encode",
           r"^(void encode<OfHalves<Bfloat16InLine>|OfHalves<Bfloat16InLine>::encode)", 16, 4,
           "shrn"),
    Kernel("SGD", r"^void sgd_update<float>", 16, 12),
    Kernel("Adam", r"^void adam_update<float>", 8, 16),
]
BY_INTRINSICS = Kernel("float32 sum by intrinsics", "", 16, 8)  # Only in plain_loops.cpp.


def output_of(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def assembly_of(build):
    """Compiles neon.cpp as the build does, but to assembly."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith("cpu/neon.cpp"):
            command = re.sub(r"^\S*ccache\.sh ", "", entry["command"])
            command = re.sub(r" -o \S+ -c ", " -S -o - ", command)
            return output_of(command, shell=True, cwd=entry["directory"])
    sys.exit("cycles.py: " + str(build) + " does not compile neon.cpp")


def plain_assembly():
    """Compiles the plain loops. With -fno-math-errno, GCC makes vectors of roots too."""
    return output_of(["aarch64-linux-gnu-g++", "-std=c++20", "-O3", "-ffp-contract=off",
                      "-fno-math-errno", "-S", "-o", "-",
                      pathlib.Path(__file__).with_name("plain_loops.cpp")])


def functions_of(assembly):
    """Returns the lines of each function, by its readable name."""
    bodies = {name: body.splitlines() for name, body in re.findall(
        r"^([\w.$]+):\n(.*?)^\t\.size\t\1,", assembly, re.S | re.M)}
    names = output_of(["c++filt", *bodies])
    return {name.replace("rota::kernels::cpu::(anonymous namespace)::", ""): body
            for name, body in zip(names.splitlines(), bodies.values())}


def loops_of(lines):
    """Returns the instructions of each loop that has no other loop in it, in their order. A loop
    ends with a branch that depends on a condition: other jumps back are no loops."""
    lines = [line for line in lines if not re.match(r"\t\.", line)]
    places = {line.rstrip(":"): at for at, line in enumerate(lines) if line.startswith(".L")}
    loops = []
    last = 0  # Where the last loop ended: a loop around it began before.
    for at, line in enumerate(lines):
        target = re.match(r"\t(?:b|cb|tb)\S+\t(?:.*, )?(\.L\w+)$", line)
        if target and last <= places.get(target[1], at) < at:
            turn = lines[places[target[1]]:at + 1]
            loops.append([each for each in turn if each.startswith("\t")])
            last = at
    return loops


def loop_of(kernel, functions):
    """Returns the kernel's loop, which must be the only one with its name."""
    found = []
    for name, body in functions.items():
        if re.search(kernel.pattern, name):
            loops = [loop for loop in loops_of(body)
                     if not kernel.has or any("\t" + kernel.has in line for line in loop)]
            found += loops[:1]
    if len(found) != 1:
        sys.exit(f"cycles.py: {kernel.title} has no loop, or several kernels are called so")
    return found[0]


def bytes_read(loop):
    """Returns how many bytes the loads of a turn read, without those from the stack."""
    bytes_of = {"b": 1, "h": 2, "s": 4, "w": 4, "d": 8, "x": 8, "q": 16}
    total = 0
    for line in loop:
        load = re.match(r"\tld(\S+)\t([^\[]*)\[(\w+)", line)
        if not load or load[3] == "sp":
            continue
        narrow = re.match(r"u?r(?:s?)([bhw])$", load[1])
        if narrow:
            total += bytes_of[narrow[1]]
        else:
            total += sum(bytes_of[kind] for kind in re.findall(r"\b([bhswdxq])\d", load[2]))
            total += sum(int(count) * bytes_of[kind]
                         for count, kind in re.findall(r"\bv\d+\.(\d+)([bhsd])", load[2]))
    return total


def plain_loop_of(kernel, functions):
    """Returns the plain loop of a kernel, and the elements of a turn. The loop that reads most in a
    turn is the one with vectors; others do what is left at the end."""
    loop = max(loops_of(functions[re.sub(r"\W+", "_", kernel.title)]), key=bytes_read)
    elements, rest = divmod(bytes_read(loop), kernel.read)
    if elements == 0 or rest:
        sys.exit(f"cycles.py: the plain loop of {kernel.title} reads {bytes_read(loop)} bytes")
    return loop, elements


def without_addresses(loop):
    """Leaves the loads, the stores and the arithmetic: what uses memory or a vector register."""
    return [line for line in loop if "[" in line or re.search(r"\b[bdhqsv]\d", line)]


def figure_of(title, loop, cpu):
    """Returns a figure of llvm-mca's report on the loop."""
    report = output_of(
        ["llvm-mca-19", "-mtriple=aarch64-linux-gnu", "-mcpu=" + cpu, f"-iterations={TURNS}"],
        input="\n".join(loop) + "\n")
    return float(re.search(title + r":\s+([\d.]+)", report)[1])


def cycles_of(loop, elements, cpu):
    return figure_of("Total Cycles", loop, cpu) / TURNS * ELEMENTS / elements


def bound_of(loop, elements, cpu):
    """Returns how long the busiest unit needs."""
    return figure_of("Block RThroughput", without_addresses(loop), cpu) * ELEMENTS / elements


def main():
    functions = functions_of(assembly_of(pathlib.Path(sys.argv[1])))
    plain_functions = functions_of(plain_assembly())
    print("| kernel | instructions |" + "".join(f" {cpu} | plain | bound |" for cpu in CPUS))
    print("|---|---|" + "---|---|---|" * len(CPUS))
    slow = []
    for kernel in KERNELS:
        loop = loop_of(kernel, functions)
        plain = plain_loop_of(kernel, plain_functions)
        figures = []
        for cpu, model in CPUS.items():
            cycles, plain_cycles = cycles_of(loop, kernel.elements, model), cycles_of(*plain, model)
            figures += [cycles, plain_cycles, bound_of(loop, kernel.elements, model)]
            if cycles > plain_cycles:
                slow.append(f"{kernel.title} on {cpu}")
        print(f"| {kernel.title} | {len(loop) * ELEMENTS / kernel.elements:.1f} | "
              + " | ".join(f"{figure:.1f}" for figure in figures) + " |")
    by_intrinsics = plain_loop_of(BY_INTRINSICS, plain_functions)
    print(f"{BY_INTRINSICS.title}: " + ", ".join(
        f"{cycles_of(*by_intrinsics, model):.1f} on {cpu}" for cpu, model in CPUS.items()))
    print("slower than the plain loop: " + (", ".join(slow) or "none"))


if __name__ == "__main__":
    main()
