# ./dev setup [GROUP...]
# shellcheck shell=bash

command_setup() {
  setup build "$@"
  [[ " $* " != *' peers '* ]] || install_peers
}

# What training is measured beside, in a Python environment of its own.
install_peers() {
  say "installing PyTorch and TensorFlow in build/peers"
  python3 -m venv build/peers
  build/peers/bin/pip install --quiet 'torch==2.15.*' 'tensorflow-cpu==2.21.*'
}
