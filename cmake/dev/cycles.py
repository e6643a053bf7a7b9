"""Lists how many cycles llvm-mca counts for the loops of the NEON kernels: cycles.py BUILD

llvm-mca models a processor, but neither its caches nor its memory. It counts the cycles of a loop
whose data are in the first-level cache. No processor ran anything. The bound is the time that the
busiest unit of the processor needs for the loads, the stores and the arithmetic of the loop, if no
instruction waits for another one.
"""

import json
import pathlib
import re
import subprocess
import sys

CPUS = {"A53": "cortex-a53", "A72": "cortex-a72", "A76": "neoverse-n1"}  # There is no A76 model.
TURNS = 200

# A title, the kernel's function, and the elements of one turn of the function's first loop.
KERNELS = [
    ("float32 sum", r"^void combine<Same<float>, Sum,", 32),
    ("float32 sum, to both", r"^void combine_to_both<Same<float>, Sum,", 32),
    ("float32 scale", r"^void scale<Same<float>,", 32),
    ("float16 sum", r"^void combine<Float16Lanes, Sum,", 32),
    ("bfloat16 sum", r"^void combine<Bfloat16Lanes, Sum,", 32),
    ("float32 minimum", r"^void combine<Same<int>, ByBits<2139095040, Min>,", 16),
    ("int8 decode and add", r"^void decode<OfInt8<false>, Add>", 16),
    ("float16 decode and add", r"^void decode<OfHalves<Float16Lanes>, Add>", 16),
    ("bfloat16 decode and add", r"^void decode<OfHalves<Bfloat16InLine>, Add>", 16),
    ("int8 encode: largest magnitude", r"^OfInt8<false>::encode", 16),
    ("SGD", r"^void sgd_update<float>", 16),
]


def assembly_of(build):
    """Compiles neon.cpp as the build does, but to assembly."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith("cpu/neon.cpp"):
            command = re.sub(r"^\S*ccache\.sh ", "", entry["command"])
            command = re.sub(r" -o \S+ -c ", " -S -o - ", command)
            return subprocess.run(command, shell=True, cwd=entry["directory"], check=True,
                                  capture_output=True, text=True).stdout
    sys.exit("cycles.py: " + str(build) + " does not compile neon.cpp")


def functions_of(assembly):
    """Returns the lines of each function, by its readable name."""
    bodies = {name: body.splitlines() for name, body in re.findall(
        r"^([\w.$]+):\n(.*?)^\t\.size\t\1,", assembly, re.S | re.M)}
    names = subprocess.run(["c++filt", *bodies], capture_output=True, text=True, check=True).stdout
    return {name.replace("rota::kernels::cpu::(anonymous namespace)::", ""): body
            for name, body in zip(names.splitlines(), bodies.values())}


def first_loop(lines):
    """Returns the instructions from the first label that a later line jumps back to."""
    lines = [line for line in lines if not re.match(r"\t\.", line)]
    places = {line.rstrip(":"): at for at, line in enumerate(lines) if line.startswith(".L")}
    for at, line in enumerate(lines):
        target = re.match(r"\tb\S*\t(\.L\w+)$", line)
        if target and places.get(target[1], at) < at:
            return [each for each in lines[places[target[1]]:at + 1] if each.startswith("\t")]
    return None


def without_addresses(loop):
    """Leaves the loads, the stores and the arithmetic: what uses memory or a vector register."""
    return [line for line in loop if "[" in line or re.search(r"\b[bdhqsv]\d", line)]


def figure_of(title, loop, cpu):
    """Returns a figure of llvm-mca's report on the loop."""
    report = subprocess.run(
        ["llvm-mca-19", "-mtriple=aarch64-linux-gnu", "-mcpu=" + cpu, f"-iterations={TURNS}"],
        input="\n".join(loop) + "\n", capture_output=True, text=True, check=True).stdout
    return float(re.search(title + r":\s+([\d.]+)", report)[1])


def figures_of(loop, cpu):
    """Returns the cycles of a turn, and how long its busiest unit needs for it."""
    return (figure_of("Total Cycles", loop, cpu) / TURNS,
            figure_of("Block RThroughput", without_addresses(loop), cpu))


def main():
    functions = functions_of(assembly_of(pathlib.Path(sys.argv[1])))
    print("| kernel | instructions | " + " | bound | ".join(CPUS) + " | bound |")
    print("|---|---|" + "---|---|" * len(CPUS))
    for title, pattern, elements in KERNELS:
        loops = [first_loop(body) for name, body in functions.items() if re.search(pattern, name)]
        if len(loops) != 1 or not loops[0]:
            sys.exit(f"cycles.py: {title} has no loop, or several kernels are called so")
        figures = [figure for cpu in CPUS.values() for figure in figures_of(loops[0], cpu)]
        print(f"| {title} | {len(loops[0]) * 16 / elements:.1f} | "
              + " | ".join(f"{figure * 16 / elements:.1f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
