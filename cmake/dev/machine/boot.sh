#!/usr/bin/env bash
# boot.sh KERNEL ROOT boots an emulated computer whose files are those of the folder ROOT, prints
# what it says, and judges that. Ends with the exit code of the job that ran there, with 1 if a
# bound is missed, or if the machine is not done in time. ROOT.log gets all that the machine says.
set -euo pipefail
kernel=$1 root=$2
# On a busy machine, the emulator takes minutes.
seconds=${ROTA_MACHINE_SECONDS:-1800}

(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$root.initrd"
# With -icount, the clock of the machine counts instructions. So its time limits do not depend on how
# busy this machine is.
timeout -k 30 "$seconds" qemu-system-aarch64 -icount shift=1,sleep=off -M virt -cpu cortex-a53 -smp 4 -m 1G -nic none \
  -display none -monitor none -serial stdio -no-reboot -kernel "$kernel" -initrd "$root.initrd" \
  -append "console=ttyAMA0 quiet panic=-1" </dev/null 2>&1 |
  sed -u 's/\r//g' | tee "$root.log" || true
awk -v seconds="$seconds" -f "${0%/*}/verdict.awk" "$root.log"
