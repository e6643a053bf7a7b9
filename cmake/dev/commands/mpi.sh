# ./dev mpi [CTEST-ARGUMENT...]
# shellcheck shell=bash
source cmake/dev/record.sh

# The programs are Debian's. Newer MPIs than Debian's are Python wheels, each in a folder of its own
# below $kept/mpi, which checkouts share.
command_mpi() {
  setup build mpi
  install_wheels
  configure_all release -DROTA_MPI_PROGRAM_TESTS=ON \
    -DROTA_MPI_WHEELS="$kept/mpi"
  compile release mpi_programs_test
  run_tests release --label-regex '^mpi-programs$' "$@"
}

# install_wheels installs each line of tests/mpi_programs/wheels.txt, such as "mpich==4.3.2". Tests
# of a wheel that cannot be installed are left out.
install_wheels() {
  local wheel folder log
  while read -r wheel; do
    folder=$kept/mpi/${wheel/==/-}
    log=$folder.log
    [[ ! -e $folder/complete ]] || continue
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
  done <tests/mpi_programs/wheels.txt
}
