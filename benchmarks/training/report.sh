# Makes the page of what run.sh, which includes this, has noted.
# shellcheck shell=bash

# file_of NAME WHAT MODEL: where a run failed, as if there were none, for then lines of different
# rounds would stand beside each other.
file_of() {
  local file=$work/$1.$2.$3 runs
  case $2 in
    together | apart | alone) runs=$rounds ;;
    seconds | epochs) runs=$rounds_to_accuracy ;;
    *) runs=1 ;;
  esac
  [[ -f $file ]] && (($(wc -l <"$file") >= runs)) || file=/dev/null
  echo "$file"
}

# median NAME WHAT MODEL FORMAT [FACTOR]; a dash where there is nothing.
median() {
  local file
  file=$(file_of "$1" "$2" "$3")
  [[ -s $file ]] || {
    echo -
    return
  }
  sort -n "$file" | awk -v format="$4" -v factor="${5:-1}" '{a[NR] = $1 * factor} END {
    printf format, NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'
}

# ratio NAME WHAT NAME WHAT MODEL FORMAT [FACTOR]: the median of the rounds' ratios.
ratio() {
  local above below
  above=$(file_of "$1" "$2" "$5") below=$(file_of "$3" "$4" "$5")
  [[ -s $above && -s $below ]] || {
    echo -
    return
  }
  paste "$above" "$below" | awk -v factor="${7:-1}" 'NF == 2 {print $1 / $2 * factor}' | sort -n |
    awk -v format="$6" '{a[NR] = $1} END {
      printf format, NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'
}

epochs_of() {
  local file
  file=$(file_of "$1" epochs "$2")
  if [[ -s $file ]]; then mean_with_interval <"$file"; else echo -; fi
}

# verdict_on_epochs NAME MODEL: a sentence, whether rota needs more epochs than NAME, or it is chance.
verdict_on_epochs() {
  local ours theirs difference
  ours=$(file_of rota epochs "$2") theirs=$(file_of "$1" epochs "$2")
  [[ -s $ours && -s $theirs ]] && (($(wc -l <"$ours") > 1 && $(wc -l <"$theirs") > 1)) || return 0
  difference=$(difference_with_interval "$ours" "$theirs")
  awk -v name="${titles[$1]}" -v model="$2" -v said="$difference" 'BEGIN {
    split(said, part, " ± ")
    printf "Epochs of %s, those of rota minus those of %s: %s, ", model, name, said
    if (part[1] <= part[2] && -part[1] <= part[2]) print "no difference that these seeds show.\n"
    else print "which is more than chance.\n"}'
}

report_of() {
  local model=$1 name
  printf '**%s**, %s images an epoch\n\n' "$model" "${images[$model]}"
  echo "| | 2 workers, images/s | rota / this | without communication | efficiency | 1 worker" \
    "| rota / this |"
  echo '|---|---:|---:|---:|---:|---:|---:|'
  for name in "${names[@]}"; do
    echo "| ${titles[$name]} | $(median "$name" together "$model" %.0f)" \
      "| $(ratio rota together "$name" together "$model" %.2f)" \
      "| $(median "$name" apart "$model" %.0f)" \
      "| $(ratio "$name" together "$name" apart "$model" '%.0f %%' 100)" \
      "| $(median "$name" alone "$model" %.0f) | $(ratio rota alone "$name" alone "$model" %.2f) |"
  done
  echo
  losses_of "$model"
}

# losses_of MODEL: a sentence for each rate that is higher than rota's.
losses_of() {
  local name what share
  declare -A workers=([together]='2 workers' [alone]='1 worker')
  for name in "${names[@]}"; do
    for what in together alone; do
      share=$(ratio rota $what "$name" $what "$1" %.2f)
      awk -v share="$share" 'BEGIN {exit !(share ~ /^[0-9]/ && share < 1)}' || continue
      printf 'With %s, rota is slower than %s: %s of its rate.\n\n' "${workers[$what]}" \
        "${titles[$name]}" "$share"
    done
  done
}

make_report() {
  local name model
  head_of_page training "$command" "$(versions)"
  cat <<END
The example's models on MNIST, in batches of 100 images a worker, by SGD with a learning rate of
0.05 and a momentum of 0.9 (\`seed\`: 0.001 and none): two workers of one thread each on two cores,
the same two without communication, and one alone. Efficiency is the share of the rate without
communication that is left with it: they were measured one after the other, and so a share may be
above 100 %. Medians of $rounds rounds, and of the rounds' ratios.

END
  for model in "${models[@]}"; do report_of "$model"; done
  cat <<END
From the command to the end of the first step; the most memory of a worker, of mlp at the end of the
last epoch, and of the others after the first step; and the seconds of training mlp, without
evaluation, until $accuracy of the test images are classified correctly at the end of an epoch. All
on the whole training set: mlp is the median of $rounds_to_accuracy runs, each with a seed of its
own, the others of $rounds. Epochs are the mean of the runs, with its interval of 95 %.

| | model | first step, s | memory, MB | seconds to $accuracy | rota / this | epochs |
|---|---|---:|---:|---:|---:|---:|
END
  for name in "${names[@]}"; do
    for model in "${models[@]}"; do
      [[ -s $(file_of "$name" start "$model") ]] || continue
      echo "| ${titles[$name]} | $model | $(median "$name" start "$model" %.2f)" \
        "| $(median "$name" memory "$model" %.0f 1e-6)" \
        "| $(median "$name" seconds "$model" %.1f)" \
        "| $(ratio rota seconds "$name" seconds "$model" %.2f)" \
        "| $(epochs_of "$name" "$model") |"
    done
  done
  echo
  for name in "${names[@]}"; do
    [[ $name == rota ]] || verdict_on_epochs "$name" mlp
  done
}
