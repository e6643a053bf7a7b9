#!/usr/bin/env bash
# Measures how fast training on files of records is, compared with data in memory. Makes a page with
# rota and PyTorch.
#
# usage: records.sh BIN PEERS DATA OUT COMMAND [JOBS]
# BIN has the programs, PEERS is the Python environment of the peers, DATA has the MNIST files. OUT
# gets records.md, which names COMMAND as its origin, and records.errors. The files to measure are
# in OUT, too.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=jobs.sh
source "$here/jobs.sh"
jobs=${6:-5} rounds=5
begin_measuring records "$@"
for ((job = 1; job <= jobs; ++job)); do compare_paces records $rounds; done

# row GROUP WAY TITLE: a row with the share of the images/s from memory, without a prefetch.
row() { echo "| $3 | $(spread "$1/$2" %.0f) | $(share "$1/$2" "$1/memory" %.1f 100) |"; }

{
  head_of_page records "$command" "$(versions)"
  paragraph <<END
Medians of $((jobs * rounds)) rounds; in brackets are the least and the most of a round. A share is
computed within a round. In a round, mlp trains for 200 steps in each way.
[What is measured](../benchmarks.md#records) explains the rows.
END
  printf '| | images/s | share of memory, %% |\n|---|---:|---:|\n'
  for ranks in 1 2; do
    row rota-$ranks memory "rota, ranks: $ranks; memory"
    row rota-$ranks memory-prefetched "rota, ranks: $ranks; memory, prefetched"
    row rota-$ranks records "rota, ranks: $ranks; records"
    row rota-$ranks records-prefetched "rota, ranks: $ranks; records, prefetched"
  done
  row pytorch memory 'PyTorch, 1 worker; memory'
  row pytorch records-prefetched 'PyTorch, 1 worker; records, prefetched'
  printf '\n## Bounds\n\n'
  # Two ranks keep two cores busy, and leave none to a prefetch.
  verdict_on rota-1/records-prefetched rota-1/memory 'at least' 97 %.1f 100 \
    "from records with a prefetch, mlp on one rank has %s % of the images/s from memory"
} >"$out/records.new"
mv "$out/records.new" "$out/records.md"
cat "$out/records.md"
