# ./dev gpu [--build | --all-architectures]
# shellcheck shell=bash
source cmake/dev/judges.sh

gpu_folder=build/gpu
gpu_archive=build/gpu.tar.xz

command_gpu() {
  case ${1:-} in
    --build) build_gpu_folder ;;
    --all-architectures) build_all_architectures ;;
    '')
      unpack_gpu_folder
      local code=0
      "$gpu_folder/run" || code=$?
      [[ ! -s $gpu_folder/results/gpu.md ]] || cp "$gpu_folder/results/gpu.md" docs/benchmarks/gpu.md
      exit "$code"
      ;;
    *) die "gpu: the only arguments are --build and --all-architectures, not '$1'" ;;
  esac
}

# unpack_gpu_folder unpacks the archive if it is newer than the folder.
unpack_gpu_folder() {
  if [[ $gpu_archive -nt $gpu_folder/run ]]; then
    rm -rf "$gpu_folder"
    tar -xmf "$gpu_archive" -C build || {
      rm -rf "$gpu_folder"
      die "gpu: $gpu_archive cannot be unpacked"
    }
  fi
  [[ -x $gpu_folder/run ]] || die "gpu: there is no $gpu_folder and no $gpu_archive: './dev gpu \
--build' makes both, here or on a machine without a GPU; copy the archive from there"
}

require_cuda() {
  setup build test cuda
  install_cuda
  has_cuda || die "gpu: there is no CUDA toolkit to compile with"
}

# build_gpu_folder makes a folder for a machine with a GPU, and an archive of it, a third as large.
build_gpu_folder() {
  require_cuda
  # shellcheck source=../../../benchmarks/pages/head.sh
  source benchmarks/pages/head.sh
  remember_code
  configure_all release
  compile release gpu_tests gpu_bench socket_bench rotarun mnist rota_nccl
  local bin=build/release/bin test
  say "making $gpu_folder"
  rm -rf "$gpu_folder"
  mkdir -p "$gpu_folder"/{bin,lib,tests,sanitizer,source/examples/mnist}
  cp "$bin"/{gpu_bench,socket_bench,rotarun,mnist} "$gpu_folder/bin"
  while read -r test; do cp "$test" "$gpu_folder/tests"; done <build/release/gpu_tests.txt
  # Under the names that programs ask for, which have a part of the version.
  find build/release/lib/{cuda,nccl} -name 'librota_*.so.*' -type l -exec cp -L -t "$gpu_folder/lib" {} +
  cp -r examples/mnist/data "$gpu_folder/source/examples/mnist"
  copy_libraries
  strip "$gpu_folder"/{bin,tests}/*
  install_sanitizer
  cp cmake/dev/gpu/run.sh "$gpu_folder/run"
  cp -r cmake/dev/gpu/rows benchmarks/pages/head.sh "$gpu_folder"
  is_same_code ||
    die "gpu: the code (${code_folders[*]}) changed while it was compiled; build again"
  head_of_gpu_page >"$gpu_folder/head.md"
  say "packing $gpu_archive"
  {
    tar -C build -I 'xz -T0 -1' -cf "$gpu_archive.part" gpu && mv "$gpu_archive.part" "$gpu_archive"
  } || die "gpu: $gpu_archive cannot be packed"
  require_small "$gpu_archive"
  say "copy $gpu_archive ($(du -h "$gpu_archive" | cut -f 1), $(du -sh "$gpu_folder" | cut -f 1) when \
unpacked) to a machine with a GPU, unpack it there with 'tar -xf', and start gpu/run"
}

# require_small FILE fails if an archive is too large to be copied to a machine quickly.
require_small() {
  local megabytes=$(($(stat -c %s "$1") / 1000000))
  ((megabytes < 50)) || die "gpu: $1 has $megabytes MB, and 50 MB are too many to be copied \
quickly: see what 'tar -tvf' lists"
}

# copy_libraries copies the libraries that the programs are linked with, except those of the C
# library, which belong together with the machine's loader.
copy_libraries() {
  ldd "$gpu_folder"/{bin,tests}/* 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|librota_[a-z]*|ld-[^/]*)\.so' |
    xargs -r cp -L -t "$gpu_folder/lib"
}

# install_sanitizer unpacks compute-sanitizer, without its pages, its headers and its 32-bit half.
install_sanitizer() {
  local folder
  folder=$(mktemp -d)
  python3 -m venv "$folder/python"
  "$folder/python/bin/python" -m pip install --quiet --no-deps --only-binary :all: \
    --require-hashes --target "$folder/wheel" --requirement cmake/cuda/sanitizer.txt </dev/null ||
    die "gpu: compute-sanitizer cannot be installed"
  cp "$folder"/wheel/nvidia/cu13/compute-sanitizer/{compute-sanitizer,TreeLauncher*,lib*.so} \
    "$gpu_folder/sanitizer"
  chmod +x "$gpu_folder"/sanitizer/*
  rm -r "$folder"
}

# head_of_gpu_page prints what the page says about the commit and the compiler.
head_of_gpu_page() {
  printf '# gpu\n\n'
  echo "Measured by \`./dev gpu\`. Commit \`$(commit_at_begin)\`, $(built_by)." | fold -s -w 100 |
    sed 's/ *$//'
}

# build_all_architectures compiles the kernels for every GPU that a release supports, which takes six
# times as long as for one, and looks into the library.
build_all_architectures() {
  local folder=build/architectures
  require_cuda
  say "compiling for all architectures"
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DROTA_CUDA="$(cuda_root)" \
    -DCMAKE_CUDA_COMPILER_LAUNCHER="$PWD/cmake/ccache.sh" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/cmake/ccache.sh" -DROTA_UNIT_FILES=10 \
    -DROTA_WARNINGS_AS_ERRORS=ON >/dev/null || failed
  cmake --build "$folder" --parallel "$(job_count)" --target rota_cuda cuda_library_test || failed
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -R '^cuda_library_test\.'
}
