#!/usr/bin/env bash
# Tests and measures rota on a GPU, in six minutes at most (ROTA_GPU_MINUTES sets another limit):
# first the tests that use the GPU, then the figures of the page about GPUs, then the kernels under
# compute-sanitizer, and last the other tests with the label gpu. ./dev gpu --build has put this
# script into a folder, with programs and libraries.
# Besides this folder it needs the GPU's driver, a C library as new as that of the build, for models
# cuBLAS, and for the figures of NCCL NCCL: those of the system, or of Python's wheels, which PyTorch
# brings. It installs nothing and uses no network.
#
# usage: run [RESULTS]
# RESULTS is the folder of the results, by default the folder results beside this script. It ends
# with 69 if there is no GPU, and with 1 if a test has failed or sums were wrong.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=${1:-$here/results}
most_seconds=$((${ROTA_GPU_MINUTES:-6} * 60))
verdict=0
# The other tests with the label gpu use a fake device or none, so they pass on any machine.
on_gpu=(cuda_library_test gpu_kernels_test either_device_test device_training_test mnist_device_test)

# shellcheck source=../../../benchmarks/pages/head.sh
source "$here/head.sh"  # For the name of the CPU.

export PYTHON_LIBRARY_PATH=${LD_LIBRARY_PATH:-}  # Python must not find the libraries of this folder.
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
ROTA_CUDA_LIBRARY=$(find "$here/lib" -name 'librota_cuda.so.*' -print -quit 2>/dev/null)
export ROTA_CUDA_LIBRARY
export ROTA_MOVED_TO=$here  # The tests find programs here.
export ROTA_TEST_GPU=1      # The tests use the GPU, and not the fake device.

say() { echo "==> $*"; }

# find_in_wheels LIBRARY prints the folder of a library if only Python's wheels have it. The name may
# be a pattern.
find_in_wheels() {
  ! ldconfig -p 2>/dev/null | grep -q "^[[:space:]]*$1 " || return 0
  LD_LIBRARY_PATH=$PYTHON_LIBRARY_PATH python3 -c 'import glob, nvidia, os, sys
for folder in nvidia.__path__:
    for file in sorted(glob.glob(folder + "/*/lib/" + sys.argv[1])):
        print(":" + os.path.dirname(file))' "$1" 2>/dev/null | head -n 1
}

# limited SECONDS COMMAND... ends the command after this time, or when the minutes are over.
limited() {
  local left=$((most_seconds - SECONDS))
  ((left > 5)) || { echo "the $most_seconds seconds are over: $2" >&2 && return 124; }
  timeout -k 5 $((left < $1 ? left : $1)) "${@:2}"
}

# check NAME SECONDS COMMAND... keeps the output, and shows it if the command fails.
check() {
  local log=$results/$1.log code=0
  limited "$2" "${@:3}" >"$log" 2>&1 || code=$?
  if ((code == 0)); then
    echo "passed: $1"
    return
  fi
  echo "FAILED: $1 (exit code $code; all output is in $log)"
  tail -n 20 "$log"
  verdict=1
}

# check_test NAME runs a program of the folder tests.
check_test() { check "$1" 120 "$here/tests/$1" --gtest_brief=1; }

# check_others runs the tests that do not use the GPU.
check_others() {
  local name
  for name in "$here"/tests/*_test; do
    name=$(basename "$name")
    [[ " ${on_gpu[*]} " == *" $name "* ]] || check_test "$name"
  done
}

# run_rows runs each script of the folder rows, which prints a line of JSON for each figure, or for
# each figure that it cannot measure, with the reason. If the reason is that values were wrong, the
# run has failed: no test adds values of several processes by CUDA IPC or by NCCL.
run_rows() {
  local script code name
  for script in "$here"/rows/*.sh; do
    name=$(basename "$script" .sh)
    code=0
    (cd "$here" && limited 150 bash "$script") >"$results/$name.rows" 2>"$results/$name.log" || code=$?
    ((code == 0)) || printf '{"what": "%s", "not_run": "exit code %d: %s"}\n' "$name" "$code" \
      "$(tail -n 1 "$results/$name.log" | tr -d '"\\')" >>"$results/$name.rows"
    cat "$results/$name.rows" | tee -a "$results/rows.jsonl"
    if grep -q '"not_run": *"wrong values' "$results/$name.rows"; then
      echo "FAILED: $name has wrong values"
      verdict=1
    fi
  done
}

# fact KEY prints a fact of the GPU.
fact() { sed -nE "s/.*\"$1\":\"?([^\",}]*).*/\1/p" "$results/facts.json"; }

make_page() {
  cat "$here/head.md"
  echo
  echo "GPU: $(fact gpu) ($(fact gpus) in this machine). Driver: $(cat "$results/driver.txt"), for CUDA"
  echo "$(fact cuda_of_driver). rota is compiled with CUDA $(fact cuda_of_rota)."
  echo "Measured on $(LC_ALL=C date '+%-d %B %Y'): $(cpu), $(nproc) cores."
  echo
  "$here/bin/gpu_bench" table <"$results/rows.jsonl"
}

mkdir -p "$results" || exit 2
rm -f "$results"/gpu.{md,json}  # Those of an earlier run.
LD_LIBRARY_PATH+=$(find_in_wheels 'libcublas.so.1[23]')$(find_in_wheels libnccl.so.2)
if ! "$here/bin/gpu_bench" facts >"$results/facts.json" 2>"$results/facts.log"; then
  sed 's/^gpu_bench: /dev: gpu: /' "$results/facts.log" >&2
  exit 69
fi
(nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0 2>/dev/null ||
  sed -nE 's/.* ([0-9]+\.[0-9.]+) .*/\1/p;q' /proc/driver/nvidia/version 2>/dev/null ||
  echo unknown) >"$results/driver.txt"
say "$(fact gpu), driver $(cat "$results/driver.txt")"

say "the tests that use the GPU"
for name in "${on_gpu[@]}"; do check_test "$name"; done
say "the figures"
: >"$results/rows.jsonl"
run_rows
{
  echo "{\"facts\": $(cat "$results/facts.json"), \"driver\": \"$(cat "$results/driver.txt")\", \"rows\": ["
  paste -sd ',' "$results/rows.jsonl"
  echo ']}'
} >"$results/gpu.json"
make_page >"$results/gpu.md"
say "the kernels under compute-sanitizer"
# The tools may make the kernels a hundred times slower, so no figure waits for them.
# GoogleTest numbers the types of a test: 2 and 0 are float. The log names each test.
kernels='GpuCodings.*:GpuCasts.*:GpuReductions/2.*:GpuUpdates/0.*:GpuNorms/0.*'
kernels+=':GpuActivations.*:GpuDropout.*:GpuPixels.*:GpuRows.*:GpuPooling.*:GpuWindows.*:GpuLoss.*'
for tool in memcheck racecheck synccheck; do
  check "sanitizer_$tool" 120 "$here/sanitizer/compute-sanitizer" --tool $tool --error-exitcode 9 \
    "$here/tests/gpu_kernels_test" --gtest_filter="$kernels"
done
say "the other tests, which use no GPU"
check_others
say "the results are in $results/gpu.md and $results/gpu.json, after $SECONDS seconds"
exit $verdict
