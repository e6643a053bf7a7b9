# tune_and_take.sh ROTARUN ROTA_BENCH TRANSPORT: rota-bench tune writes a file. The next job of the
# same topology uses the file, and a job of another topology refuses it. A file that cannot be
# written is refused before anything is measured.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -np 3 --transport "$3" "$2" tune -o "$folder/tuned" --sizes 4,4K,256K --seconds 0.01 --try 9
grep -q "^transport $3\$" "$folder/tuned"
grep -q '^hosts 0-2$' "$folder/tuned"
grep -q '^all-reduce 0 ' "$folder/tuned"
grep -q 'predicted .* measured' "$folder/tuned"
"$1" -np 3 --transport "$3" --tuned "$folder/tuned" --verbose "$2" all-reduce --sizes 4,4K \
  --iterations 2 --back-to-back 2 --check 2>"$folder/said"
grep -q 'as the tuned file says' "$folder/said"
if "$1" -np 2 --transport "$3" --tuned "$folder/tuned" "$2" all-reduce --sizes 4 2>"$folder/said"; then
  echo "a file of another topology was taken" && exit 1
fi
grep -q 'is for 3 ranks on 1 host (0-2)' "$folder/said"
if "$1" -np 2 --transport "$3" "$2" tune -o "$folder/none/tuned" >"$folder/out" 2>"$folder/said"; then
  echo "a file that cannot be written was taken" && exit 1
fi
grep -q "cannot write $folder/none/tuned: No such file or directory" "$folder/said"
[ ! -s "$folder/out" ] || { echo "it measured first:"; cat "$folder/out"; exit 1; }
