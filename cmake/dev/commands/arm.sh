# ./dev arm [--all] [PART...] [CTEST-ARGUMENT...] | --board pi3|pi4|pi5|armhf |
#           --machine [arm64|armhf] | --image | --cycles
#
# A PART is arm64, armhf, or mixed: ranks of both and of this machine in one job.
# shellcheck shell=bash
source cmake/dev/sysroot.sh
source cmake/dev/machine/machine.sh
source cmake/dev/arm_image.sh

# The emulator raises SIGILL on an instruction that the CPU of a board lacks.
declare -A cpus=([pi3]=cortex-a53 [pi4]=cortex-a72 [pi5]=cortex-a76 [armhf]=cortex-a7)

declare -A all_boards=([arm64]="pi3 pi4 pi5" [armhf]="armhf")
# What ./dev arm builds and tests without --all. These boards have all kernels.
declare -A chosen_boards=([arm64]="pi3 pi5" [armhf]="armhf")
declare -A chosen_programs=([arm64]="rotarun collectives_ranks" [armhf]="collectives_ranks")
declare -A chosen_tests=([arm64]='^collectives_(shm|tcp)_[1-4]$' [armhf]='^collectives_(shm|tcp)_2$')

command_arm() {
  local all=no argument part parts=() arguments=()
  if [[ ${1:-} == --cycles ]]; then
    count_cycles
    return
  elif [[ ${1:-} == --board ]]; then
    test_board "${2:-none}"
    return
  elif [[ ${1:-} == --machine ]]; then
    test_machines "${@:2}"
    return
  elif [[ ${1:-} == --image ]]; then
    test_arm_image
    return
  fi
  for argument in "$@"; do
    case $argument in
      --all) all=yes ;;
      arm64 | armhf | mixed) parts+=("$argument") ;;
      --board | --machine | --image | --cycles) die "arm: $argument must be the first option" ;;
      *) arguments+=("$argument") ;;
    esac
  done
  ((${#parts[@]} > 0)) || parts=(arm64 armhf mixed)
  setup build test arm
  for part in "${parts[@]}"; do
    if [[ $part == mixed ]]; then
      test_mixed "$all" "${arguments[@]}"
    else
      test_architecture "$part" "$all" "${arguments[@]}"
    fi
  done
}

# prepare ARCHITECTURE TARGET... compiles for the architecture.
prepare() {
  make_sysroot "$1"
  configure "$1"
  compile "$@"
}

# prepare_native TARGET... compiles for this machine.
prepare_native() {
  configure_all release -DROTA_ARM_TESTS=ON
  compile release "$@"
}

count_cycles() {
  setup build arm cycles
  make_sysroot arm64
  configure arm64
  say "cycles for 16 elements in the first-level cache, counted by llvm-mca"
  python3 cmake/dev/cycles.py build/arm64
}

# test_board BOARD
test_board() {
  [[ -v cpus[$1] ]] || die "arm: the board must be pi3, pi4, pi5 or armhf"
  setup build arm
  prepare "$(architecture_of "$1")" rota_static kernels_test wire_test
  run_kernels "$1"
}

# test_architecture ARCHITECTURE ALL [CTEST-ARGUMENT...]
test_architecture() {
  local board boards=${all_boards[$1]} programs="emulated_tests rota_programs"
  local tests=(-L '^(unit|sim|ranks)$') left=()
  if [[ $2 == yes ]]; then
    mapfile -t left < <(left_out "$1")
    ((${#left[@]} == 0)) || tests+=(-E "$(IFS='|' && echo "${left[*]}")")
  else
    boards=${chosen_boards[$1]}
    programs="kernels_test wire_test ${chosen_programs[$1]}"
    tests=(-R "${chosen_tests[$1]}")
  fi
  # shellcheck disable=SC2086  # The variable has several names of targets.
  prepare "$1" rota_static $programs
  prepare_native rotarun
  for board in $boards; do run_kernels "$board"; done
  run_tests "$1" "${tests[@]}" "${@:3}"
}

# test_mixed ALL [CTEST-ARGUMENT...]
test_mixed() {
  local tests=(-L '^arm$')
  [[ $1 == yes ]] || tests+=(-LE '^long$')
  prepare arm64 "${mixed_programs[@]}"
  prepare armhf "${mixed_programs[@]}"
  prepare_native mixed_ring_test
  ROTA_SYSROOTS=$kept/arm run_tests release "${tests[@]}" "${@:2}"
}

# left_out ARCHITECTURE prints an expression for each group of tests that cannot be emulated, and
# says why.
left_out() {
  local architecture tests why
  while read -r architecture tests why; do
    [[ $architecture == any || $architecture == "$1" ]] || continue
    say "left out, $1: $tests: $why" >&2
    echo "$tests"
  done < <(grep -v -e '^#' -e '^$' tests/arm/left_out.txt)
}

architecture_of() { if [[ $1 == armhf ]]; then echo armhf; else echo arm64; fi; }

# run_kernels BOARD runs the tests whose results may depend on the processor of a board.
run_kernels() {
  local program
  say "testing the kernels and the bytes of messages on an emulated $1"
  for program in kernels_test wire_test; do
    run_emulated "$1" "tests/$program" --gtest_brief=1 || exit 1
  done
}

# run_emulated BOARD PROGRAM [ARGUMENT...] runs a program of the build for the board.
run_emulated() {
  local architecture emulator=qemu-aarch64
  architecture=$(architecture_of "$1")
  [[ $architecture == arm64 ]] || emulator=qemu-arm
  "$emulator" -cpu "${cpus[$1]}" -L "$kept/arm/$architecture" "build/$architecture/$2" "${@:3}"
}
