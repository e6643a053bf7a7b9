#!/usr/bin/env bash
# ./dev arm --machine believes only a machine that says how the job ended, and judges the memory that
# the job took. Method: a program of a few lines replaces the emulator, and others replace rota.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree
machine=$work/tree/cmake/dev/machine

run 2 tree/dev arm --machine x86
expect "only ARM is emulated" says "^dev: arm: --machine takes arm64 or armhf, not 'x86'$"
run 2 tree/dev arm --all --machine
expect "the option is the first" says '^dev: arm: --machine must be the first option$'

# A job of four ranks, which takes no memory and needs no library.
fake rotarun <<'SH'
[[ $1 == -np ]] || exit 2
launch() {
  for ((rank = 0; rank < ranks; ++rank)); do "$@" & done
  for child in $(jobs -p); do wait "$child" || exit; done
}
ranks=$2
launch "${@:3}" &
wait $!
SH
fake time <<'SH'
[[ $1 == -a && $2 == -o && $4 == -f ]] || exit 2
printf "${5/\%M/%s}\n" "${FAKE_PEAK:-2000}" >>"$3"
exec "${@:6}"
SH
fake mnist <<'SH'
echo '{"event":"epoch","epoch":1}'
sleep 2
echo "{\"event\":\"done\",\"test_accuracy\":${FAKE_ACCURACY:-0.9}}"
exit "${FAKE_CODE:-0}"
SH
job() { "$@" sh "$machine/job.sh" 4 images; }
run 0 job
expect "the peak of each rank is told" test "$(grep -c '^peak of a rank: 2000 KiB$' output)" = 4
expect "both processes of rotarun are measured" \
  test "$(grep -cE '^private memory of rotarun: [1-9][0-9]* KiB$' output)" = 2
expect "the memory of a rank is told by its parts" says '^memory of a rank: \[heap\] [1-9]'
run 7 job env FAKE_CODE=7

# The emulator prints what the files machine and end have, with the ends of lines of a terminal.
fake cpio <<<'cat'
fake qemu-system-aarch64 <<'SH'
[[ $* == *'-initrd root.initrd'* ]] || exit 2
sed 's/$/\r/' machine end
SH
mkdir root
boot() { bash "$machine/boot.sh" kernel root; }
# said CODE [EDIT]: the machine says what the job has printed, edited by sed.
said() {
  sed "${2:-}" job >machine
  echo "machine: the job ended with $1" >end
}
job env >job 2>&1
sed -i 's/^\(private memory of rotarun:\) .*/\1 900 KiB/' job

said 0
run 0 boot
expect "the verdict has the figures" says '^==> a rank took up to 2\.0 MB; at most 24\.6$'
expect "the files go into the machine" grep -qx . root.initrd
said 9
run 9 boot
said 0 's/: 2000/: 24023/'
run 0 boot
said 0 's/: 2000/: 24024/'
run 1 boot
expect "memory has a bound" says '^dev: arm: a rank took too much memory$'
said 0 's/rotarun: 900/rotarun: 977/'
run 1 boot
expect "rotarun has a bound" says '^dev: arm: rotarun took too much memory$'
said 0 's/accuracy":0.9/accuracy":0.1/'
run 1 boot
expect "accuracy has a bound" says '^dev: arm: the accuracy is too low$'
said 0 '/^peak of a rank/d'
run 1 boot
expect "a measurement that failed is no success" says 'ranks were to be measured'

# The machine hangs: it says all but the end.
said 0
: >end
echo 'sleep 100' >>fake/qemu-system-aarch64
run 1 env ROTA_MACHINE_SECONDS=1 bash "$machine/boot.sh" kernel root
expect "a machine that hangs is ended" says 'did not say how the job ended, in 1 seconds'
exit "$failures"
