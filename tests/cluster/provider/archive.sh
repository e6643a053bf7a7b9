#!/usr/bin/env bash
# archive.sh OUT NAME:TAG CONFIG FOLDER [PROCESSOR] makes an image of a folder: an archive as
# `docker save` writes it, without Docker. CONFIG is the image's "config" in JSON:
# '{"Entrypoint": ["/pause"]}'. PROCESSOR runs the image's programs, as `uname -m` names it. By
# default, it is this machine's. The same folder gives the same bytes.
set -euo pipefail
out=$1 name=$2 config=$3 folder=$4 processor=${5:-$(uname -m)}

case $processor in
  x86_64) architecture='"amd64"' ;;
  aarch64) architecture='"arm64"' ;;
  armv7l) architecture='"arm", "variant": "v7"' ;;
  *) echo "archive.sh: no image is known to run on $processor" >&2 && exit 2 ;;
esac

parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
tar --create --file "$parts/layer.tar" --directory "$folder" \
  --owner 0 --group 0 --numeric-owner --sort name --mtime @0 .
digest=$(sha256sum "$parts/layer.tar" | cut -d ' ' -f 1)
cat >"$parts/config.json" <<JSON
{"architecture": $architecture, "os": "linux", "config": $config,
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]}}
JSON
cat >"$parts/manifest.json" <<JSON
[{"Config": "config.json", "RepoTags": ["$name"], "Layers": ["layer.tar"]}]
JSON
tar --create --file "$out" --directory "$parts" manifest.json config.json layer.tar
