# validate.sh ROTA_BENCH: rota-bench validate refuses costs of another machine, lists jobs, and names
# each point that was not measured. The costs are made up, and nothing is measured.
set -eu
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Writes the costs of a machine at 1 Gbit/s, with one rank on each host.
write_costs() {
  cat >"$folder/1000-1" <<END
rota-calibration 1
machine $1
transport tcp
between-hosts 1e-4 1e-5 8e-9
additions 1e-10
END
}

# validate CODE ARGUMENT...: the command must end with this code.
validate() {
  expected=$1
  shift
  code=0
  "$bench" validate --calibrations "$folder" --burst 128K "$@" </dev/null >"$folder/said" 2>&1 ||
    code=$?
  [ "$code" = "$expected" ] || {
    echo "ended with $code in place of $expected:"
    cat "$folder/said"
    exit 1
  }
}

# says TEXT
says() { grep -qF -- "$1" "$folder/said" || { echo "did not say: $1"; cat "$folder/said"; exit 1; }; }

validate 2 --points few --jobs
says "rota-bench validate: cannot read $folder/1000-1"
write_costs 'another machine'
validate 2 --points few --jobs
says "$folder/1000-1 was measured on 'another machine', and this prediction is for '"
write_costs "$(sed -n "s/.*this prediction is for '\(.*\)': measure.*/\1/p" "$folder/said")"
validate 0 --points few --jobs
says '1000 2 1 all-reduce --plans ring,direct,halving-doubling,tree,hub,star --sizes 1024,65536 '
says '1000 3 1 scale --model mlp --scaling weak --rate 1000 '
[ "$(wc -l <"$folder/said")" = 4 ] || { echo "there are not four jobs"; cat "$folder/said"; exit 1; }
validate 1 --points few
says '- star, 64 KiB, 3 hosts of 1 rank, 1 Gbit/s: not measured.'
says '| all others | 0 | 40 % | 0.0 % | 80 % | **missed** |'
says 'predicted with half of each latency | | | | a criterion is missed | not judged |'
validate 2 --points all
says "rota-bench validate: --points: there are no points 'all'; there are whole, short, few"
