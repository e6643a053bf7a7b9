#!/usr/bin/env bash
# completion.sh FILE...: asks the completions for the next words, as bash does.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=/dev/null
for file; do source "$file"; done
compopt() { :; }  # bash has it only during completion.

# expect "ANSWERS" WORD...: the completion offers exactly these answers for the last word.
expect() {
  local expected=$1
  COMP_WORDS=("${@:2}")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  "_${2//-/_}"
  [[ ${COMPREPLY[*]} == "$expected" ]] || {
    echo "for '${COMP_WORDS[*]}' the completion offers '${COMPREPLY[*]}', not '$expected'" >&2
    exit 1
  }
}

expect "--this-host --transport --tuned --tag-output --timestamp-output --timeout" rotarun --t
expect "auto shm tcp mpi" rotarun --transport ""
expect "tcp" rotarun -np 4 --transport t
expect "./completion.sh" rotarun --hostfile ./completion.s
expect "core" rotarun --bind-to = c
expect "node" rotarun --rank-by n
expect "--rank-by --report-bindings --role" rotarun --r
expect "evaluator" rotarun --role e
expect "none core numa" rotarun --bind-to =
expect "--share-devices --stop-signal --status-port --show-ranks" rotarun --tag-output --s
expect "" rotarun --status-port ""
expect "" rotarun -np ""
expect "./completion.sh" rotarun -np 4 ./completion.s  # From here on: a program.
expect "" rotarun -np 4 train --t
expect "" rotarun -- --t
expect "--data-claim --data-size" rotarun render --name mnist --data
expect "job jobset" rotarun render --kind job
expect "./completion.sh" rotarun render --check ./completion.s
expect "" rotarun render --name mnist -- train --t
expect "list" rota-checkpoint l
expect "--help --version" rota-checkpoint --
expect "./stranger" rota-checkpoint show ./strang
expect "./completion.sh" rota-checkpoint export ./stranger ./completion.s
