# For the scripts of this folder, which set `bin`: starts each contestant, and describes the
# contestants and the machine. run_NAME RANKS COLLECTIVES ARGUMENT... runs the contestant NAME and
# prints its rows. So does `run NAME`, which also knows the MPIs of `./dev setup peers`: they have
# the functions of their family.
# shellcheck shell=bash

# shellcheck source=../pages/head.sh
source "$(dirname "${BASH_SOURCE[0]}")/../pages/head.sh"

declare -A titles=([rota]=rota [openmpi]='Open MPI' [mpich]=MPICH [impi]='Intel MPI' [gloo]=Gloo
  [limit]=limit [socket]=socket [rota_pairs]='rota shm+tcp' [openmpi_pairs]='Open MPI'
  [gloo_pairs]=Gloo)
declare -A missing=()
limit=60  # Seconds that one run may take.

newer_mpis=()  # Names of contestants, such as openmpi-5.0.11.

# find_newer_mpis PEERS: finds the MPIs of `./dev setup peers`.
find_newer_mpis() {
  local folder name
  peers=$1
  for folder in "$peers"/mpi/*-*; do
    [[ -e $folder/complete ]] || continue
    name=${folder##*/}
    newer_mpis+=("$name")
    titles[$name]="${titles[${name%%-*}]} ${name##*-}"
  done
}

# launcher_of MPI: prints the launcher. Debian's name distinguishes several MPIs; the fallback is
# mpirun.
launcher_of() {
  case $1 in
    *-*) command -v "$peers/mpi/$1/bin/mpirun" ;;
    *) command -v "mpirun.$1" || command -v mpirun ;;
  esac
}

is_there() {
  local peer=${1%_pairs}_bench
  case $1 in
    rota | rota_pairs) return 0 ;;
    openmpi* | mpich* | impi*)
      [[ -x $bin/$peer ]] && launcher_of "${1%_pairs}" >/dev/null && return 0
      ;;
    *) [[ -x $bin/$peer ]] && return 0 ;;
  esac
  missing[$1]=1
  return 1
}

name_missing() {
  local name
  for name in "${!missing[@]}"; do echo "${titles[$name]}: not installed" >&2; done
}

# run NAME RANKS COLLECTIVES ARGUMENT...
run() {
  local contestant=${1%_pairs}
  "run_${1%%-*}" "${@:2}"
}

run_rota() {
  local crowd=()
  (($1 <= $(nproc))) || crowd=(--oversubscribe)
  timeout -k 30 $limit "$bin/rotarun" -np "$1" "${crowd[@]}" "$bin/rota-bench" "${@:2}" --json
}

# Open MPI must be told that running as root is intended, and that ranks outnumber cores.
run_openmpi() {
  local crowd=() mpi=${contestant:-openmpi}
  (($1 <= $(nproc))) || crowd=(--oversubscribe --mca mpi_yield_when_idle 1)
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 30 $limit \
    "$(launcher_of "$mpi")" -np "$1" "${crowd[@]}" "$bin/${mpi}_bench" "${@:2}" --json
}

run_mpich() {
  local mpi=${contestant:-mpich}
  timeout -k 30 $limit "$(launcher_of "$mpi")" -np "$1" "$bin/${mpi}_bench" "${@:2}" --json
}

# Intel MPI has the launcher of MPICH.
run_impi() { run_mpich "$@"; }

# Gloo and the limit allocate no memory of their own: a result for any memory counts for both kinds.
run_gloo() { in_any_memory timeout -k 30 $limit "$bin/gloo_bench" "${@:2}" --ranks "$1" --json; }
run_limit() { in_any_memory timeout -k 30 $limit "$bin/limit_bench" "${@:2}" --json; }

# Runs a command that ends in arguments of the method. Runs it once even if the arguments ask for
# both kinds of memory.
in_any_memory() {
  local words=" $* "
  if [[ $words != *' --memory both '* ]]; then
    "$@"
    return
  fi
  # No argument of the command contains a blank.
  # shellcheck disable=SC2086
  ${words/--memory both/--memory any} | sed 'p; s/"memory": "any"/"memory": "shared"/'
}

# describe SECTION COMMAND NAME... prints the head of a page, with the versions of all contestants.
describe() {
  local versions name
  versions="rota $("$bin/rotarun" --version | sed -n 's/^rotarun \([0-9.]*\).*/\1/p')"
  for name in openmpi mpich gloo; do
    [[ " ${*:3} " != *" $name "* ]] || versions+=$(version_of "${titles[$name]}" "lib$name-dev")
  done
  for name in "${newer_mpis[@]}"; do
    [[ " ${*:3} " != *" $name "* ]] || versions+=", ${titles[$name]}"
  done
  head_of_page "$1" "$2" "$versions"
}

# version_of NAME PACKAGE prints ", NAME VERSION" if Debian knows the version.
version_of() {
  local version
  version=$(dpkg-query -W -f '${Version}' "$2" 2>/dev/null) || return 0
  echo ", $1 $version"
}
