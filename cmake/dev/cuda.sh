# Installs the CUDA toolkit that compiles librota_cuda, from Python wheels. It needs no GPU and no
# driver.
# shellcheck shell=bash
source cmake/dev/record.sh

# The folder of the toolkit. Checkouts with the same list of wheels share it.
cuda_folder() { echo "$kept/cuda/$(sha256sum <cmake/cuda/requirements.txt | cut -c 1-16)"; }

# has_cuda succeeds if the toolkit is installed.
has_cuda() { [[ -e cmake/cuda/requirements.txt && -e $(cuda_folder)/complete ]]; }

# Prints the root of the toolkit if it is installed.
cuda_root() { ! has_cuda || echo "$(cuda_folder)/wheels/nvidia/cu13"; }

# Without the toolkit, everything but librota_cuda is built. CI then names the lane that is skipped.
# A tree without a list of wheels, as in the tests of ./dev, needs no toolkit.
install_cuda() {
  [[ -e cmake/cuda/requirements.txt ]] || return 0
  ! has_cuda || return 0
  local folder log
  folder=$(cuda_folder)
  log=$folder.log
  mkdir -p "${folder%/*}"
  say "installing the CUDA toolkit in $folder"
  # Two installations at the same time would write the same files. The compiler looks for libraries
  # by names that the wheels do not have.
  if flock "$folder.lock" bash -c 'set -e
    [[ ! -e $1/complete ]] || exit 0
    rm -rf "$1"
    python3 -m venv "$1/python"
    "$1/python/bin/python" -m pip install --quiet --no-deps --only-binary :all: --require-hashes \
      --target "$1/wheels" --requirement cmake/cuda/requirements.txt
    rm -r "$1/python"
    cd "$1/wheels/nvidia/cu13"
    ln -s lib lib64
    ln -s libcudart.so.13 lib/libcudart.so
    touch "$1/complete"' _ "$folder" </dev/null >"$log" 2>&1; then
    rm -f "$log"
    return
  fi
  say "continuing without the CUDA toolkit (see $log)"
}
