# Two ranks on one GPU: over tcp through the host, and over shared memory.
# shellcheck shell=bash
set -euo pipefail
microseconds=$(bin/socket_bench all-reduce --sizes 64M --json |
  sed -nE 's/.*"median_us": ?([0-9.e+]+).*/\1/p' | head -n 1)
seconds=$(awk -v microseconds="$microseconds" 'BEGIN {print microseconds / 1e6}')
for transport in tcp shm; do
  bin/rotarun -np 2 --share-devices --transport $transport --timeout 60 \
    bin/gpu_bench all-reduce "$seconds" 2>&1 | grep '^{' ||
    echo "{\"what\": \"all-reduce of two ranks on one GPU over $transport\", \"not_run\": \"it failed\"}"
done
