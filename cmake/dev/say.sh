# Prints what ./dev is doing, and why it stopped.
# shellcheck shell=bash

say() { echo "==> $*"; }

die() {
  echo "dev: $*" >&2
  exit 2
}
