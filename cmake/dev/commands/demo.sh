# ./dev demo
# shellcheck shell=bash

command_demo() {
  setup demo
  local least=()
  is_configured release ||
    least=(-DROTA_BUILD_MANIFEST=OFF -DROTA_BUILD_TESTS=OFF -DROTA_BUILD_BENCHMARKS=OFF)
  configure release "${least[@]}"
  compile release demo

  say "training on 4 ranks"
  local log=build/demo accuracy
  build/release/bin/rotarun -np 4 --timeout 240 --output-filename $log \
    build/release/bin/mnist --model mlp
  accuracy=$(sed -n 's/.*done in .*test accuracy \([0-9.]*\) %.*/\1/p' $log/rank.0/stdout)
  [[ -n $accuracy ]] || die "demo: there is no accuracy in $log/rank.0/stdout"
  if ((${accuracy%.*} < 97)); then
    echo "FAILED: the test accuracy is $accuracy %, which is below 97 %"
    exit 1
  fi
  echo "PASSED: the test accuracy is $accuracy %, which is at least 97 %"
}
