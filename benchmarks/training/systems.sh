# Starts the workers of each system, and describes the system, for run.sh and epochs.sh. These
# scripts set `bin`, `python`, `programs`, `parts`, `models`, `seed` and `errors`. A run trains all
# models in turn. It prints one JSON object a line, with the names of `mnist --json` and the name of
# the model.
# shellcheck shell=bash

# Elsewhere, awk, printf, sort and EPOCHREALTIME may read and write a comma for the point of a number.
export LC_ALL=C

declare -A titles=([rota]=rota [pytorch]='PyTorch DDP' [tensorflow]='TensorFlow MWMS')
declare -A missing=()
limit=300  # Seconds that one run may take.
port=$((20000 + RANDOM % 10000))

# Settings of the example's models, with $seed and a constant rate. The programs of the peers
# contain the same settings.
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

# mnist MODEL DATA EPOCHS PREFIX...: replaces the shell by the example, started with the prefix.
mnist() {
  # No argument contains a blank.
  # shellcheck disable=SC2086
  exec timeout -k 30 $limit "${@:4}" "$bin/mnist" --model "$1" --data "$2" --epochs "$3" \
    ${settings[$1]} \
    --decay-to 1 --seed "$seed" --json 2>>"$errors"
}

# all_of_mnist PREFIX...: runs mnist for all models in turn, and adds the model to each line.
all_of_mnist() {
  local model
  for model in "${models[@]}"; do
    (mnist "$model" "$parts/$model" 2 "$@") | sed "s/^{/{\"model\":\"$model\",/" || return 1
  done
}

# as_peer COMMAND...: hides GPUs from the peer, and limits it to one thread.
as_peer() {
  CUDA_VISIBLE_DEVICES='' OMP_NUM_THREADS=1 TF_CPP_MIN_LOG_LEVEL=3 \
    timeout -k 30 $limit "$@" 2>>"$errors"
}

# alone NAME CORE [ARGUMENT...]: runs one independent worker, on the models' parts of the data. The
# arguments are for the program of a peer.
alone() {
  if [[ $1 == rota ]]; then
    all_of_mnist taskset -c "$2"
  else
    as_peer taskset -c "$2" "$python" "$programs/training_$1.py" "${@:3}"
  fi
}

# wait_each JOB...: fails if any job fails, which a bare `wait` does not report.
wait_each() {
  local job status=0
  for job in "$@"; do wait "$job" || status=1; done
  return "$status"
}

# together NAME [ARGUMENT...]: runs two workers that sum their gradients.
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
