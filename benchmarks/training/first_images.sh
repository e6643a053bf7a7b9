# Makes smaller data sets, for the other scripts in this folder.
# shellcheck shell=bash

big_endian() {
  # The format string is built here, byte by byte.
  # shellcheck disable=SC2059
  printf "$(printf '\\x%02x' $(($1 >> 24)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) $(($1 & 255)))"
}

# first_of FILE COUNT HEADER BYTES: prints the first COUNT elements, of BYTES bytes, of an IDX file.
first_of() {
  local idx
  idx=$(mktemp)
  gunzip -c "$1" >"$idx"
  { head -c 4 "$idx" && big_endian "$2" && head -c $(($3 + $2 * $4)) "$idx" | tail -c +9; } | gzip -1
  rm "$idx"
}

# first_images DATA TRAIN TEST FOLDER: makes a data folder that examples/mnist can read, with the
# first TRAIN training images and the first TEST test images of DATA.
first_images() {
  local name count
  mkdir -p "$4"
  for name in "train $2" "t10k $3"; do
    read -r name count <<<"$name"
    first_of "$1/$name-images-idx3-ubyte.gz" "$count" 16 784 >"$4/$name-images-idx3-ubyte.gz"
    first_of "$1/$name-labels-idx1-ubyte.gz" "$count" 8 1 >"$4/$name-labels-idx1-ubyte.gz"
  done
}
