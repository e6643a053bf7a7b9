# Smaller data sets, for the scripts beside this one.
# shellcheck shell=bash

big_endian() {
  # The format is made here, of bytes.
  # shellcheck disable=SC2059
  printf "$(printf '\\x%02x' $(($1 >> 24)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) $(($1 & 255)))"
}

# first_of FILE COUNT HEADER BYTES: an IDX file's first elements, of so many bytes each.
first_of() {
  local idx
  idx=$(mktemp)
  gunzip -c "$1" >"$idx"
  { head -c 4 "$idx" && big_endian "$2" && head -c $(($3 + $2 * $4)) "$idx" | tail -c +9; } | gzip -1
  rm "$idx"
}

# first_images DATA TRAIN TEST FOLDER: a folder as the example takes it, with so many of each.
first_images() {
  local name count
  mkdir -p "$4"
  for name in "train $2" "t10k $3"; do
    read -r name count <<<"$name"
    first_of "$1/$name-images-idx3-ubyte.gz" "$count" 16 784 >"$4/$name-images-idx3-ubyte.gz"
    first_of "$1/$name-labels-idx1-ubyte.gz" "$count" 8 1 >"$4/$name-labels-idx1-ubyte.gz"
  done
}
