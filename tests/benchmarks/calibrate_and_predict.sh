# calibrate_and_predict.sh ROTARUN ROTA_BENCH: a job of two ranks measures a calibration, from which
# steps are predicted. Another transport is refused. A printed workload is predicted like the model
# that it is of. The cost of a prediction is printed in the form that scripts read.
set -eu
rotarun=$1
bench=$2
file=$(mktemp)
trap 'rm -f "$file" "$file.workload"' EXIT

"$rotarun" -np 2 --oversubscribe --transport tcp "$bench" tune --calibration "$file"
predict() { "$bench" predict --calibration "$file" --rate 1G --latency 50us "$@"; }
predict --hosts 2,64 --workload mlp --codec int8 --json | grep '"ranks":64'
predict --hosts 8 --sizes 1M --plan ring --json | grep '"plan":"ring"'
predict --worth 80 --workload mlp --plan ring --json | grep '"event":"worth"'
"$bench" predict --workload vgg-16 --print-workload >"$file.workload"
[ "$(predict --workload "$file.workload" --json)" = "$(predict --workload vgg-16 --json)" ]
predict --hosts 4 --sizes 1M --cost --json |
  grep -Ex '\{"event":"cost","seconds":[0-9.e-]+,"peak_memory_bytes":[0-9]+\}'
"$bench" scale-answers --help | grep 'usage: rota-bench scale-answers'
status=0
predict --transport shm --hosts 1 --sizes 1M 2>"$file.said" || status=$?
said=$(cat "$file.said")
rm "$file.said"
[ "$status" = 2 ] || { echo "ended with $status instead of 2: $said"; exit 1; }
case $said in
  *'was measured over tcp, and this prediction is for shm'*) ;;
  *) echo "did not name the transports: $said"; exit 1 ;;
esac
