# Training on one GPU, against PyTorch on the same GPU. Without PyTorch, or without cuBLAS, the rows
# have the reason.
# shellcheck shell=bash
set -uo pipefail

python() { LD_LIBRARY_PATH=$PYTHON_LIBRARY_PATH python3 "$@"; }

torch=$(python -c 'import torch; print("yes" if torch.cuda.is_available() else "")' 2>/dev/null)

# rate_of_rota MODEL BATCH prints images per second in the last epoch, or the last line of stderr.
rate_of_rota() {
  bin/mnist --device cuda --data source/examples/mnist/data --model "$1" --batch-size "$2" --epochs 3 --json 2>errors |
    sed -nE 's/.*"event":"epoch".*"images_per_second":([0-9.e+]+).*/\1/p' | tail -n 1
}

# row MODEL BATCH LEAST-RATIO
row() {
  local what="$1 at batch $2" rota peer
  rota=$(rate_of_rota "$1" "$2")
  if [[ -z $rota ]]; then
    printf '{"what": "%s", "not_run": "%s"}\n' "$what" "$(tail -n 1 errors | tr -d '"\\')"
    return
  fi
  if [[ -z $torch ]]; then
    printf '{"what": "%s, %.0f images/s", "not_run": "there is no PyTorch for GPUs here"}\n' \
      "$what" "$rota"
    return
  fi
  peer=$(python rows/train_pytorch.py "$1" "$2")
  printf '{"what": "%s", "value": %s, "unit": "images/s", "peer": "PyTorch", "peer_value": %s, "least_ratio": %s}\n' \
    "$what" "$rota" "${peer:-0}" "$3"
}

row mlp 100 2
row mlp 1000 1.2
row lenet 100 1.3
