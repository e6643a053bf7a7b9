#!/usr/bin/env bash
# ./dev gpu runs what was built in advance: it says in one sentence what is missing, keeps all
# results if a test fails, and makes the page. Method: a folder with programs of one line.
# ShellCheck does not know that expect calls functions.
# shellcheck disable=SC2317

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree
mkdir -p tree/docs/benchmarks

run 2 tree/dev gpu
expect "what is missing is named" says \
  "^dev: gpu: there is no build/gpu and no build/gpu.tar.xz: './dev gpu --build' makes both"
run 2 tree/dev gpu --fast
expect "an unknown argument is refused" says "^dev: gpu: the only arguments are"

truncate -s 49MB small
truncate -s 51MB large
size_of() {
  cd tree && source cmake/dev/say.sh && source cmake/dev/commands/gpu.sh && require_small "../$1"
}
export -f size_of
run 0 bash -c 'size_of small'
run 2 bash -c 'size_of large'
expect "an archive that is too large is refused" says '^dev: gpu: \.\./large has 51 MB'

folder=tree/build/gpu
mkdir -p $folder/{bin,tests,lib,sanitizer,rows}
cp tree/cmake/dev/gpu/run.sh $folder/run
cp "$source_tree/benchmarks/pages/head.sh" $folder
printf '# gpu\n\nMeasured by `./dev gpu`.\n' >$folder/head.md

# program PATH: makes a program in the folder. Its script is read from standard input.
program() {
  { echo '#!/bin/bash' && cat; } >"$folder/$1"
  chmod +x "$folder/$1"
}

program bin/gpu_bench <<'SH'
echo "gpu_bench: this process finds no driver" >&2
exit 69
SH
run 69 tree/dev gpu
expect "what is missing is the only output" test "$(cat output)" = "dev: gpu: this process finds no driver"

program bin/gpu_bench <<'SH'
case $1 in
  facts) echo '{"gpu":"toy GPU","gpus":1,"capability":90,"cuda_of_driver":"13.1","cuda_of_rota":"13.0"}' ;;
  table) echo "| table |" && grep -c . ;;
esac
SH
fake nvidia-smi <<<'echo 590.1'
fake ldconfig <<<'echo "	libnccl.so.2 (libc6,x86-64) => /lib/libnccl.so.2"'
fake python3 <<<'echo ":/wheels/lib"'
program tests/good_test <<<'[[ $ROTA_TEST_GPU == 1 && -d $ROTA_MOVED_TO/tests ]] &&
  [[ $LD_LIBRARY_PATH == *lib:/wheels/lib && $LD_LIBRARY_PATH != *wheels*wheels* ]]'
program sanitizer/compute-sanitizer <<<'exec "${@:5}"'  # After --tool and --error-exitcode.
for name in cuda_library either_device device_training mnist_device; do
  program "tests/${name}_test" <<<'echo "$ROTA_TEST_GPU"'
done

# float_index FILE prints the number that GoogleTest gives the type float in a file.
float_index() {
  tr '\n' ' ' <"$1" | sed -nE 's/.*::testing::Types<([^>]*)>.*/\1/p' | tr ',' '\n' |
    grep -nxE ' *float *' | awk -F : '{print $1 - 1}'
}
# The tests of a file in which kernels are launched run on the GPU, too.
kernel_files=()
for file in "$source_tree"/tests/kernels/cuda/*_test.cpp; do
  grep -q 'launches()' "$file" || continue
  kernel_files+=("$file")
  expect "gpu_kernels_test has ${file##*/}" grep -qw "${file##*/}" <(
    sed -n '/^  add_executable(gpu_kernels_test/,/)/p' "${file%/*}/CMakeLists.txt")
done
# kernel_tests prints the names of the tests of kernels, as GoogleTest has them for float.
kernel_tests() {
  local file
  for file in "${kernel_files[@]}"; do
    sed -nE "s/^TEST\((\w+), (\w+)\).*/\1.\2/p
      s/^TYPED_TEST\((\w+), (\w+)\).*/\1\/$(float_index "$file").\2/p" "$file"
  done
}
kernel_tests >$folder/kernel_tests
program tests/gpu_kernels_test <<'SH'
[[ " $* " != *' --gtest_brief=1 '* ]] || exit 0  # GoogleTest then names no test that passes.
for argument in "$@"; do
  [[ $argument != --gtest_filter=* ]] || IFS=: read -ra patterns <<<"${argument#*=}"
done
while read -r name; do
  for pattern in "${patterns[@]}"; do
    [[ $name != $pattern ]] || echo "[ RUN      ] $name"
  done
done <"$ROTA_MOVED_TO/kernel_tests"
SH
echo 'echo "{\"what\": \"good\"}"' >$folder/rows/10-good.sh
run 0 tree/dev gpu
expect "the GPU is named" says '^==> toy GPU, driver 590.1$'
expect "tests run, and find what only Python's wheels have" says '^passed: good_test$'
# in_order REGEX...: lines of the output match the expressions, one after the other.
in_order() {
  local before=0 line regex
  for regex; do
    line=$(grep -nE -m 1 -e "$regex" output | cut -d : -f 1)
    ((${line:-0} > before)) || return
    before=$line
  done
}
expect "what uses the GPU comes first, and what does not comes last" in_order \
  '^passed: cuda_library_test$' '^passed: gpu_kernels_test$' '^passed: either_device_test$' \
  '^passed: device_training_test$' '^passed: mnist_device_test$' '^\{"what": "good"\}$' \
  '^passed: sanitizer_memcheck$' '^passed: sanitizer_racecheck$' '^passed: sanitizer_synccheck$' \
  '^passed: good_test$'
for tool in memcheck racecheck synccheck; do
  while read -r name; do
    expect "$tool sees $name" grep -qF "[ RUN      ] $name" "$folder/results/sanitizer_$tool.log"
  done <$folder/kernel_tests
  for what in Codings Casts Reductions Updates Norms Activations Dropout Pixels Rows Pooling \
    Windows Loss; do
    expect "$tool sees Gpu$what" grep -qE "Gpu${what}[./]" "$folder/results/sanitizer_$tool.log"
  done
done
on_gpu=$(sed -nE 's/^on_gpu=\((.*)\)$/\1/p' $folder/run)
for name in $on_gpu; do
  expect "there is $name" grep -qrE "(rota_test|add_executable)\($name( |$)" \
    --include CMakeLists.txt "$source_tree/tests"
done

# calls FILE prints each call of a CMake file as one line.
calls() {
  awk '{ sub(/#.*/, ""); text = text " " $0; depth += gsub(/\(/, "(") - gsub(/\)/, ")") }
    depth == 0 { print text; text = "" }' "$1"
}
# test_words FILE prints a line for each call about a test program: its name and the other words.
test_words() {
  calls "$1" |
    sed -nE 's/^ *(rota_test|add_executable|target_link_libraries)\((\w+_test)(.*)\) *$/\2 \3/p'
}
# tests_on_gpu prints the test programs that use a GPU where there is one: they link the kernels for
# GPUs, or one of their sources asks for a GPU. It sees only names and sources that a call writes
# out, such as NAME_test and FILE.cpp, but none that are in a variable.
tests_on_gpu() {
  local list name words word
  while read -r list; do
    while read -r name words; do
      [[ " $words " != *" rota::cuda "* ]] || echo "$name"
      for word in $words; do
        [[ $word == *.cpp && -f ${list%/*}/$word ]] || continue
        ! grep -qwE 'TestDevice|ROTA_TEST_GPU' "${list%/*}/$word" || echo "$name"
      done
    done < <(test_words "$list")
  done < <(find "$source_tree/tests" -name CMakeLists.txt) | sort -u
}
expect "tests that use a GPU are found" test -n "$(tests_on_gpu)"
for name in $(tests_on_gpu); do
  expect "$name runs among the tests that use the GPU" grep -qw "$name" <<<"$on_gpu"
done
expect "the page has the facts" grep -q 'GPU: toy GPU (1 in this machine). Driver: 590.1, for CUDA$' \
  tree/docs/benchmarks/gpu.md
expect "the page has the day and the CPU" grep -qE \
  '^Measured on [0-9]+ [A-Z][a-z]+ [0-9]{4}: .+, [0-9]+ cores\.$' tree/docs/benchmarks/gpu.md
expect "the page has the row" grep -qx 1 tree/docs/benchmarks/gpu.md
mkdir given && touch given/other
run 0 $folder/run given
expect "results come into the folder that is given" test -s given/gpu.md
expect "other files there stay" test -e given/other

program tests/bad_test <<<'echo "this is wrong"; exit 3'
echo 'echo "no memory is left" >&2; exit 4' >$folder/rows/20-bad.sh
run 1 tree/dev gpu
expect "the failed test is named" says '^FAILED: bad_test \(exit code 3;'
expect "its output is shown" says '^this is wrong$'
expect "other tests run" says '^passed: good_test$'
expect "a row has the reason" grep -q '"what": "20-bad", "not_run": "exit code 4: no memory is left"' \
  $folder/results/gpu.json

rm $folder/tests/bad_test $folder/rows/20-bad.sh
wrong='{"what":"a sum","not_run":"wrong values"}'
echo "echo '$wrong'" >$folder/rows/20-wrong.sh
run 1 tree/dev gpu
expect "the row with wrong values is named" says '^FAILED: 20-wrong has wrong values$'
expect "it is kept" grep -qF "$wrong" $folder/results/gpu.json
expect "other tests run" says '^passed: good_test$'
expect "no other row is named" test "$(grep -c '^FAILED: ' output)" = 1

rm $folder/rows/20-wrong.sh
run 1 env ROTA_GPU_MINUTES=0 tree/dev gpu
expect "a test without time is named" says '^FAILED: either_device_test \(exit code 124;'
expect "the limit is named" says '^the 0 seconds are over: .*/tests/either_device_test$'
expect "no test has passed" says_not '^passed: '
expect "a figure without time is named" grep -q \
  '"what": "10-good", "not_run": "exit code 124: the 0 seconds are over: bash"' \
  $folder/results/gpu.json
expect "the page is made" test -s $folder/results/gpu.md

tar -C tree/build -I xz -cf tree/build/gpu.tar.xz gpu
rm -r $folder
run 0 tree/dev gpu
expect "the archive is unpacked" says '^passed: good_test$'
touch $folder/stale
run 0 tree/dev gpu
expect "the folder is unpacked once" test -e $folder/stale
touch -d '+1 minute' tree/build/gpu.tar.xz
run 0 tree/dev gpu
expect "a newer archive replaces the folder" test ! -e $folder/stale
truncate -s 100 tree/build/gpu.tar.xz
touch -d '+2 minutes' tree/build/gpu.tar.xz
run 2 tree/dev gpu
expect "a damaged archive is named" says '^dev: gpu: build/gpu.tar.xz cannot be unpacked$'
expect "nothing of it is left" test ! -e $folder
exit "$failures"
