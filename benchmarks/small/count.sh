# Counts the instructions of an all-reduce of 4 bytes, for scripts that set `bin`, the folder of the
# programs. Needs valgrind. System calls are not counted.
# shellcheck shell=bash

# collected WAY N: prints how many instructions a rank takes for N thousand calls, with its start
# and its end. WAY is `alone`, in a world of one rank, or a transport between two ranks. Then only
# one rank runs in callgrind, which makes it many times slower than the other rank. So the value of
# the other rank is always there before, and the counted rank does not wait.
collected() {
  local launch=()
  local calls=("$bin/rota-bench" all-reduce --sizes 4 --placement in-place --calls back-to-back
    --iterations "$2")
  [[ $1 == alone ]] || launch=("$bin/rotarun" --transport "$1" -np 1 "${calls[@]}" : -np 1)
  "${launch[@]}" valgrind --tool=callgrind --callgrind-out-file=/dev/null "${calls[@]}" \
    2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}

# instructions_of WAY: prints the instructions of one call. The difference of two jobs leaves out
# the start and the end.
instructions_of() { echo $((($(collected "$1" 3) - $(collected "$1" 1)) / 2000)); }
