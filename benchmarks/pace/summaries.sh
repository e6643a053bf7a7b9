#!/usr/bin/env bash
# Measures what summaries for TensorBoard cost the thread that trains. Makes a page that compares
# rota with PyTorch.
#
# usage: summaries.sh BIN PEERS DATA OUT COMMAND [JOBS]
# BIN has the programs, PEERS is the Python environment of the peers, DATA has the MNIST files. OUT
# gets summaries.md, which names COMMAND as its origin, and summaries.errors.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=jobs.sh
source "$here/jobs.sh"
jobs=${6:-5} rounds=5
begin_measuring summaries "$@"
for ((job = 1; job <= jobs; ++job)); do compare_paces summaries $rounds; done

microseconds() { spread "$1" %.2f 1e6; }
# row GROUP TITLE WAY: a row with the share of the images/s that a way leaves.
row() { echo "| $2 | $(spread "$1/plain" %.0f) | $(spread "$1/$3" %.0f) | $(share_of "$1" "$3") |"; }
share_of() { share "$1/$2" "$1/plain" %.2f 100; }

{
  head_of_page summaries "$command" "$(versions)"
  paragraph <<END
Medians of $((jobs * rounds)) rounds; in brackets are the least and the most of a round. A share is
computed within a round. In a round, mlp trains for 200 steps in each way.
[What is measured](../benchmarks.md#summaries) explains the rows.
END
  cat <<END
| a call, µs | beside training | in a row |
|---|---:|---:|
| rota: \`scalar\` | $(microseconds rota-1/scalar) | $(microseconds rota-1/scalar-in-a-row) |
| PyTorch: \`add_scalar\` | $(microseconds pytorch/scalar) | $(
    microseconds pytorch/scalar-in-a-row
  ) |

| in every step | images/s without | with | share, % |
|---|---:|---:|---:|
END
  row rota-1 'rota, 1 rank: 2 curves' writer
  row rota-1 'rota, 1 rank: all 8 curves of `Summaries`' hook
  row rota-2 'rota, 2 ranks: 2 curves' writer
  row rota-2 'rota, 2 ranks: all 11 curves of `Summaries`' hook
  row pytorch 'PyTorch, 1 worker: 2 curves' writer
  printf '\n## Bounds\n\n'
  for what in 'scalar|beside training' 'scalar-in-a-row|in a row'; do
    verdict_of rota-1/"${what%|*}" 'at most' 2 %.2f 1e6 \
      "a call of \`scalar\` ${what#*|} takes %s µs"
  done
  for ranks in 1 2; do
    for what in 'writer|2 curves' 'hook|all curves'; do
      verdict_on rota-$ranks/"${what%|*}" rota-$ranks/plain 'at least' 99 %.2f 100 \
        "with ${what#*|} in every step, mlp on $ranks rank(s) has %s % of the images/s"
    done
  done
} >"$out/summaries.new"
mv "$out/summaries.new" "$out/summaries.md"
cat "$out/summaries.md"
