#!/usr/bin/env bash
# image_size_test.sh IMAGES: compares the download size of each image with its limit: 15.1 MB for
# rota, and for rota-mnist 0.1 MB more for the program, and its data set.
set -euo pipefail
cd "$1"
status=0
# within NAME LIMIT
within() {
  local bytes
  bytes=$(tar -C "$1" -c . | gzip | wc -c)
  echo "$1: $bytes bytes, compressed by gzip"
  ((bytes <= $2)) || { echo "FAILED: $1 may have at most $2 bytes" && status=1; }
}
within rota 15100000
within rota-mnist $((15200000 + $(cat rota-mnist/usr/share/rota/mnist/* | gzip | wc -c)))
exit $status
