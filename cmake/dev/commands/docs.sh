# ./dev docs
# shellcheck shell=bash

# docs/Doxyfile makes every warning of Doxygen an error.
build_docs() {
  say "the API reference"
  mkdir -p build
  rm -rf build/docs
  ROTA_VERSION=$(sed -n 's/^project(rota VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt) \
    doxygen docs/Doxyfile
}

command_docs() {
  setup docs
  build_docs
  say "build/docs/html/index.html"
}
