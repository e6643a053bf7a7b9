#!/usr/bin/env bash
# Measures how much time checkpoints take from training, and how long saving and restoring take.
# Makes a page that compares rota with PyTorch and with the limits of this machine.
#
# usage: page.sh BIN PEERS DATA OUT COMMAND [ROUNDS [SECTION...]]
# BIN has the programs, PEERS is the Python environment of the peers, DATA has the MNIST files. OUT
# gets checkpoint.md, which names COMMAND as its origin, and checkpoint.errors. The files to measure
# are in OUT, too. The sections are mlp, large and training.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../pace/jobs.sh
source "$here/../pace/jobs.sh"
rounds=${6:-5} rounds_of_training=5 saves=3
sections=("${@:7}")
((${#sections[@]})) || sections=(mlp large training)
declare -A steps=([mlp]=3 [large]=200)  # Milliseconds.
declare -A sizes=([mlp]='5.4 MB' [large]='256 MiB')

measure_files() {
  local arguments=(--state "$1" --step "${steps[$1]}" --saves "$saves")
  in_new_folder "$bin/rota-bench" checkpoint "${arguments[@]}" | note "$1"
  ! has_pytorch ||
    in_new_folder "$python" "$programs/checkpoint_pytorch.py" "${arguments[@]}" | note "$1"
}

measure() {
  case $1 in
    training) compare_paces checkpoints $rounds_of_training ;;
    *) measure_files "$1" ;;
  esac
}

begin_measuring checkpoint "$@"
for section in "${sections[@]}"; do
  for ((round = 1; round <= rounds; ++round)); do measure "$section"; done
done

# row GROUP WHAT OURS TITLE: a row with milliseconds, and with rota's time divided by this time.
row() { echo "| $4 | $(spread "$1/$2" %.3f 1000) | $(share "$1/$3" "$1/$2" %.3f) |"; }

# table GROUP OURS TITLE, and rows of WHAT|TITLE on standard input.
table() {
  local what title
  printf '| | ms | rota / this |\n|---|---:|---:|\n'
  row "$1" "$2" "$2" "rota: $3"
  while IFS='|' read -r what title; do row "$1" "$what" "$2" "$title"; done
  echo
}

tables_of() {
  printf '## A state of %s, steps of %s ms\n\n' "${sizes[$1]}" "${steps[$1]}"
  table "$1" stall 'training stands still' <<END
memcpy|memcpy of the state
dcp.async_save|PyTorch: \`async_save\` returns
END
  table "$1" save 'save, while training waits' <<END
save-beside|rota: save beside training
bare|bare write, fsync and rename
torch.save|PyTorch: \`torch.save\` and fsync
dcp.save|PyTorch: \`distributed.checkpoint.save\`
END
  table "$1" restore 'restore, all of it checked' <<END
read-through|read and CRC-32C alone, in a cache
read-into|read and CRC-32C alone, into as much memory
torch.load|PyTorch: \`torch.load\`
dcp.load|PyTorch: \`distributed.checkpoint.load\`
END
}

training_tables() {
  local ranks group
  printf '## Training mlp with a checkpoint every 100 steps\n\n'
  echo '| ranks | images/s without | with | share, % | training stands still, µs | memcpy, µs |'
  echo '|---:|---:|---:|---:|---:|---:|'
  for ranks in 1 2; do
    group=rota-$ranks
    echo "| $ranks | $(spread $group/plain %.0f) | $(spread $group/checkpoints %.0f)" \
      "| $(share $group/checkpoints $group/plain %.1f 100) | $(spread $group/stall %.0f 1e6)" \
      "| $(spread $group/memcpy %.0f 1e6) |"
  done
  echo
}

verdicts() {
  local state of kind way ranks
  printf '## Bounds\n\n'
  for state in mlp large; do
    of="for a state of ${sizes[$state]}, training stands still for %s of"
    verdict_on $state/stall $state/memcpy 'at most' 0.25 %.3f 1 "$of a memcpy"
    verdict_on $state/stall $state/dcp.async_save 'at most' 0.1 %.3f 1 \
      "$of the time of PyTorch's \`async_save\`"
  done
  for kind in 'save|while training waits' 'save-beside|beside training'; do
    way=${kind#*|} kind=${kind%|*}
    verdict_on mlp/"$kind" mlp/bare 'at most' 1.3 %.2f 1 \
      "saving 5.4 MB $way takes %s of the time of a bare write"
    verdict_on large/bare large/"$kind" 'at least' 90 %.0f 100 \
      "saving 256 MiB $way has %s % of the rate of a bare write"
  done
  verdict_on large/torch.load large/restore 'at least' 2 %.2f 1 \
    "restoring 256 MiB has %s of the rate of \`torch.load\`"
  for kind in 'read-into|into as much memory' 'read-through|in a cache'; do
    verdict_on large/"${kind%|*}" large/restore 'at least' 80 %.0f 100 \
      "restoring 256 MiB has %s % of the rate of reading and CRC-32C alone, ${kind#*|}"
  done
  for ranks in 1 2; do
    verdict_on rota-$ranks/stall rota-$ranks/memcpy 'at most' 0.25 %.3f 1 \
      "in a training run of mlp on $ranks rank(s), training stands still for %s of a memcpy"
    verdict_on rota-$ranks/checkpoints rota-$ranks/plain 'at least' 97 %.1f 100 \
      "with a checkpoint every 100 steps, mlp on $ranks rank(s) has %s % of the images/s"
  done
}

{
  head_of_page checkpoint "$command" "$(versions)"
  paragraph <<END
Each time is the median of $rounds rounds of $saves saves or restores, in brackets with the
shortest and the longest time of a round. A ratio is computed within a round. The file system is
$(stat -f -c %T "$out"). Files are restored from the memory in which the system keeps what was just
written. Steps only wait, except in the training run of mlp. There, a round has 200 steps of each
kind in turn, and there are $((rounds * rounds_of_training)) rounds.
[What is measured](../benchmarks.md#checkpoints) explains the rows.
END
  for section in "${sections[@]}"; do
    if [[ $section == training ]]; then training_tables; else tables_of "$section"; fi
  done
  verdicts
} >"$out/checkpoint.new"
mv "$out/checkpoint.new" "$out/checkpoint.md"
cat "$out/checkpoint.md"
