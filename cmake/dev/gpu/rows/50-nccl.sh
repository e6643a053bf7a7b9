# NCCL through rota, against NCCL called by hand: in worlds of one, of two on one GPU, and of as many
# ranks as there are GPUs.
# shellcheck shell=bash
set -uo pipefail
ROTA_NCCL_LIBRARY=$(find "$PWD/lib" -name 'librota_nccl.so.*' -print -quit)
export ROTA_NCCL_LIBRARY
gpus=$(bin/gpu_bench facts | sed -nE 's/.*"gpus":([0-9]+).*/\1/p')

# rows_of WHAT COMMAND... prints the rows of a command, or one row with the reason why it has none.
rows_of() {
  local rows
  rows=$("${@:2}" 2>errors | grep '^{') && echo "$rows" && return
  printf '{"what": "%s", "not_run": "%s"}\n' "$1" "$(grep -v '^ ' errors | head -n 1 | tr -d '"\\')"
}

rows_of "all-reduce by NCCL, world of 1" bin/gpu_bench nccl
for ranks in 2 4 8; do
  if ((ranks <= gpus)); then
    rows_of "all-reduce by NCCL on $ranks GPUs" bin/rotarun -np $ranks --timeout 60 bin/gpu_bench nccl
  else
    echo "{\"what\": \"all-reduce by NCCL on $ranks GPUs\", \"not_run\": \"$gpus GPU\"}"
  fi
done
((gpus > 1)) || NCCL_MULTI_RANK_GPU_ENABLE=1 rows_of "all-reduce by NCCL, two ranks on one GPU" \
  bin/rotarun -np 2 --share-devices --timeout 60 bin/gpu_bench nccl
