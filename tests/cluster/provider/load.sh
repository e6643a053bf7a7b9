#!/usr/bin/env bash
# load.sh [--node NODE] ARCHIVE...: gives images to one node or to all, because there is no
# registry.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
if [[ $1 == --node ]]; then
  nodes=("$2")
  shift 2
fi
for node in "${nodes[@]}"; do
  for archive in "$@"; do
    said=$(containerd_of "$node" images import "$archive" 2>&1) || die "load: $node does not take $archive: $said"
  done
done
