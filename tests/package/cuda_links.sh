#!/usr/bin/env bash
# cuda_links.sh PREFIX BUILD...: nothing but the libraries of the components cuda and nccl has
# anything of CUDA: no library that is loaded, and no symbol. A project BUILD that asks for no such
# component does not look for CUDA either.
set -euo pipefail
prefix=$1
shift

is_checked=0
for file in "$prefix"/lib*/librota.so "$prefix"/lib*/*/librota.so "$prefix"/bin/* "$prefix"/libexec/rota/*; do
  [[ -e $file ]] || continue
  is_checked=1
  if readelf -d "$file" | grep -E 'NEEDED.*(cuda|nvidia|nccl|cublas)'; then
    echo "$file is linked with the libraries above" >&2
    exit 1
  fi
  if readelf --dyn-syms -W "$file" | grep -E ' (__)?(cu[A-Z]|cuda|nccl|cublas)[A-Za-z_]*$'; then
    echo "$file has the symbols above" >&2
    exit 1
  fi
done
((is_checked))
for file in "$prefix"/lib*/librota_{cuda,nccl}.so "$prefix"/lib*/*/librota_{cuda,nccl}.so; do
  [[ -e $file ]] || continue
  if readelf -d "$file" | grep -E 'NEEDED.*(librota|libcuda|libcudart|libnccl|nvidia)'; then
    echo "$file is linked with the libraries above" >&2
    exit 1
  fi
  strangers=$(nm -D --defined-only "$file" | cut -d ' ' -f 3 | grep -vE '^rota_[a-z_]*$' || true)
  [[ -z $strangers ]] || { printf '%s exports what is not its own:\n%s\n' "$file" "$strangers" >&2 && exit 1; }
done
for build; do
  if grep -E 'CMAKE_CUDA_COMPILER:|CUDAToolkit' "$build/CMakeCache.txt"; then
    echo "the build in $build has looked for CUDA" >&2
    exit 1
  fi
done
