# ./dev mpi [CTEST-ARGUMENT...]
# shellcheck shell=bash
source cmake/dev/mpi_wheels.sh

# The programs are Debian's. The tests of a newer MPI that cannot be installed are left out.
command_mpi() {
  setup build mpi
  install_mpi_wheels
  configure_all release -DROTA_MPI_PROGRAM_TESTS=ON \
    -DROTA_MPI_WHEELS="$kept/mpi"
  compile release mpi_programs_test
  run_tests release --label-regex '^mpi-programs$' "$@"
}
