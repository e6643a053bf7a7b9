# ./dev setup [GROUP...]
# shellcheck shell=bash
source cmake/dev/judges.sh
source cmake/dev/mpi_wheels.sh

command_setup() {
  setup build "$@"
  [[ " $* " != *' judges '* ]] || install_judges
  [[ " $* " != *' cuda '* ]] || install_cuda
  # What these benchmarks compare rota with, in a separate Python environment.
  [[ " $* " != *' pytorch '* ]] || install_peers PyTorch "${pytorch[@]}"
  [[ " $* " == *' peers '* ]] || return 0
  install_mpi_wheels peer
  link_mpi_peers
  install_peers 'PyTorch and TensorFlow' "${pytorch[@]}" 'tensorflow-cpu==2.21.*'
}

pytorch=('torch==2.15.*' tensorboard)  # Its SummaryWriter needs TensorBoard.

# install_peers TITLE PACKAGE...
install_peers() {
  say "installing $1 in build/peers"
  python3 -m venv build/peers
  build/peers/bin/pip install --quiet "${@:2}"
}
