# How each system's workers are started, and what is said of it: for run.sh and epochs.sh, which set
# `bin`, `python`, `programs`, `parts`, `models`, `seed` and `errors`. A run trains all of the
# models, one after the other, and prints a JSON object a line, in the words of `mnist --json`, with
# the model's name.
# shellcheck shell=bash

declare -A titles=([rota]=rota [pytorch]='PyTorch DDP' [tensorflow]='TensorFlow MWMS')
declare -A missing=()
limit=300  # Seconds that one run may take.
port=$((20000 + RANDOM % 10000))

# What all train with, with $seed, at a rate that stays. The peers' are in their program.
declare -A settings=([mlp]='--learning-rate 0.05 --momentum 0.9'
  [lenet]='--learning-rate 0.05 --momentum 0.9' [seed]='--learning-rate 0.001')

has_module() {
  [[ -x $python ]] && "$python" -c "import importlib.util, sys
sys.exit(importlib.util.find_spec('$1') is None)"
}

is_there() {
  case $1 in
    rota) return 0 ;;
    pytorch) has_module torch && return 0 ;;
    tensorflow) has_module tensorflow && return 0 ;;
  esac
  missing[$1]=1
  return 1
}

name_missing() {
  local name
  for name in "${!missing[@]}"; do
    echo "${titles[$name]}: not installed; ./dev setup peers installs it" >&2
  done
}

version_of() { "$python" -c "import importlib.metadata as m; print(m.version('$1'))" 2>/dev/null; }

versions() {
  echo -n "rota $("$bin/rotarun" --version | sed -n 's/^rotarun \([0-9.]*\).*/\1/p')"
  ! is_there pytorch || echo -n ", PyTorch $(version_of torch)"
  ! is_there tensorflow ||
    echo -n ", TensorFlow $(version_of tensorflow-cpu || version_of tensorflow)"
  echo
}

# mnist MODEL DATA EPOCHS PREFIX...: becomes the example, started by the prefix.
mnist() {
  # Of words without blanks.
  # shellcheck disable=SC2086
  exec timeout $limit "${@:4}" "$bin/mnist" --model "$1" --data "$2" --epochs "$3" ${settings[$1]} \
    --decay-to 1 --seed "$seed" --json 2>>"$errors"
}

# The same for all models, in turn: each line says which.
all_of_mnist() {
  local model
  for model in "${models[@]}"; do
    (mnist "$model" "$parts/$model" 2 "$@") | sed "s/^{/{\"model\":\"$model\",/" || return 1
  done
}

# A peer finds neither a GPU nor a second thread.
as_peer() {
  CUDA_VISIBLE_DEVICES='' OMP_NUM_THREADS=1 TF_CPP_MIN_LOG_LEVEL=3 timeout $limit "$@" 2>>"$errors"
}

# alone NAME CORE [ARGUMENT...]: one worker, which knows of no other, on the models' parts.
# Arguments are for a peer's program.
alone() {
  if [[ $1 == rota ]]; then
    all_of_mnist taskset -c "$2"
  else
    as_peer taskset -c "$2" "$python" "$programs/training_$1.py" "${@:3}"
  fi
}

# wait_each JOB...: fails where any of them does, which a bare `wait` does not say.
wait_each() {
  local job status=0
  for job in "$@"; do wait "$job" || status=1; done
  return "$status"
}

# together NAME [ARGUMENT...]: two workers that add up their gradients.
together() { "together_$1" "${@:2}"; }

together_rota() { all_of_mnist "$bin/rotarun" -np 2; }

together_pytorch() {
  as_peer "$(dirname "$python")/torchrun" --nproc-per-node 2 --master-addr 127.0.0.1 \
    --master-port $((++port)) "$programs/training_pytorch.py" "$@"
}

together_tensorflow() {
  local task jobs=() workers="\"127.0.0.1:$((++port))\", \"127.0.0.1:$((++port))\""
  for task in 0 1; do
    TF_CONFIG="{\"cluster\": {\"worker\": [$workers]},
      \"task\": {\"type\": \"worker\", \"index\": $task}}" \
      as_peer "$python" "$programs/training_tensorflow.py" "$@" &
    jobs+=($!)
  done
  wait_each "${jobs[@]}"
}
