# Training of mlp on the GPU, against the CPU of the same machine.
# shellcheck shell=bash
set -euo pipefail

# images_per_second DEVICE BATCH prints the rate of the second epoch: in the first one, memory is
# allocated.
images_per_second() {
  bin/mnist --model mlp --epochs 2 --batch-size "$2" --device "$1" --json \
    --data source/examples/mnist/data |
    sed -nE 's/.*"event":"epoch","epoch":2,.*"images_per_second":([0-9.e+]+).*/\1/p'
}

for batch in 100 1000; do
  gpu=$(images_per_second cuda $batch)
  cpu=$(images_per_second cpu $batch)
  awk -v gpu="$gpu" -v cpu="$cpu" -v batch=$batch 'BEGIN {
    printf "{\"what\": \"mlp, batches of %d\", \"value\": %s, \"unit\": \"images/s\", ", batch, gpu
    printf "\"peer\": \"the CPU\", \"peer_value\": %s, \"ratio\": %g, \"least_ratio\": 1}\n", cpu, gpu / cpu
  }'
done
