# job.sh RANKS DATA: trains `mlp` on the images in DATA, prints what the job prints, and then what
# memory its processes took. Ends with the job's exit code. Needs rotarun, mnist and GNU time in
# PATH. Runs on the emulated computer, where the shell is busybox, and on any other.
# shellcheck shell=sh
ranks=$1 data=$2
folder=$(mktemp -d)
touch "$folder/log" "$folder/peaks" "$folder/launcher" "$folder/smaps"

# below PID prints all processes that descend from it. It starts no process itself: the job goes on
# meanwhile.
below() {
  for list in /proc/"$1"/task/*/children; do
    children=
    read -r children <"$list" # Fails, as the line has no end.
    for child in $children; do
      echo "$child"
      below "$child"
    done
  done
} 2>/dev/null

# private_of PID prints how much memory of a process no other process shares, in KiB.
private_of() { awk '/^Private/ { kib += $2 } END { print kib + 0 }' "/proc/$1/smaps_rollup"; }

mkfifo "$folder/output"
tee "$folder/log" <"$folder/output" &
rotarun -np "$ranks" time -a -o "$folder/peaks" -f 'peak of a rank: %M KiB' \
  mnist --json --data "$data" --model mlp --epochs 2 --batch-size 10 >"$folder/output" 2>&1 &
job=$!

# In the second epoch, each rank has all the memory that training takes.
until grep -q '"epoch"' "$folder/log" || ! kill -0 "$job" 2>/dev/null; do sleep 0.1; done
for process in $job $(below "$job"); do
  read -r name <"/proc/$process/comm" || continue
  case $name in
    mnist) [ -s "$folder/smaps" ] || cat "/proc/$process/smaps" >"$folder/smaps" ;;
    rot*) echo "private memory of $name: $(private_of "$process") KiB" >>"$folder/launcher" ;;
  esac
done
wait "$job"
code=$?
wait

cat "$folder/peaks" "$folder/launcher"
awk -f "${0%/*}/smaps.awk" "$folder/smaps"
rm -rf "$folder"
exit $code
