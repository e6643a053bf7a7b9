# Starts the programs of rota and of PyTorch that print rows, for the scripts of the pages that
# compare both.
# shellcheck shell=bash

here_of_jobs=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../pages/head.sh
source "$here_of_jobs/../pages/head.sh"
# shellcheck source=../pages/rounds.sh
source "$here_of_jobs/../pages/rounds.sh"
programs=$here_of_jobs/../peers
limit=300  # Seconds that one job may take.

# begin_measuring PAGE BIN PEERS DATA OUT COMMAND...: sets the variables that are used below and in
# the scripts. The files to measure are in a folder of OUT, on the same disk. If arguments are
# missing, prints the usage line of the script, and ends with 2.
begin_measuring() {
  (($# >= 6)) || {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
  }
  bin=$(realpath "$2") python=$3/bin/python data=$(realpath "$4") command=$6
  mkdir -p "$5"
  out=$(realpath "$5")
  errors=$out/$1.errors
  : >"$errors"
  work=$(mktemp -d "$out/$1.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  begin_page
  has_pytorch || echo "PyTorch: not installed; ./dev setup pytorch installs it" >&2
}

has_pytorch() {
  [[ -x $python ]] &&
    "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
}

# versions: names what is compared.
versions() {
  echo -n "rota $("$bin/rotarun" --version | sed -n 's/^rotarun \([0-9.]*\).*/\1/p')"
  ! has_pytorch || "$python" -c "import importlib.metadata as m
print(', PyTorch', m.version('torch'), end='')"
  echo
}

# in_new_folder COMMAND...: adds --folder and an empty folder to the command.
in_new_folder() {
  local folder=$work/files status=0
  mkdir "$folder"
  timeout -k 30 $limit "$@" --folder "$folder" 2>>"$errors" || status=$?
  ((status == 0)) || echo "a job failed, or took more than $limit s; see $errors" >&2
  rm -rf "$folder"
  return "$status"
}

# compare_paces WHAT ROUNDS: runs one job of each kind: rota-1 and rota-2 with one and two ranks, and
# pytorch with one worker. Each of them has its rounds.
compare_paces() {
  local arguments=("$1" --data "$data" --rounds "$2")
  in_new_folder "$bin/rota-bench" pace "${arguments[@]}" | note rota-1
  in_new_folder "$bin/rotarun" -np 2 "$bin/rota-bench" pace "${arguments[@]}" | note rota-2
  [[ $1 != checkpoints ]] && has_pytorch || return 0
  in_new_folder "$python" "$programs/pace_pytorch.py" "${arguments[@]}" | note pytorch
}
