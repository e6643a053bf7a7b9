#!/usr/bin/env bash
# load.sh [--node NODE] ARCHIVE... gives images to one node or to all, as no registry is there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
if [[ $1 == --node ]]; then
  nodes=("$2")
  shift 2
fi
for node in "${nodes[@]}"; do
  for archive in "$@"; do containerd_of "$node" images import "$archive"; done
done
