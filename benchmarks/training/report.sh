# Makes the page from the results that run.sh, which includes this file, has recorded.
# shellcheck shell=bash

# file_of NAME WHAT MODEL: prints the path of the file with the results. If a run failed, prints
# /dev/null: otherwise a ratio would combine lines of different rounds.
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

# median NAME WHAT MODEL FORMAT [FACTOR]: prints the median, or a dash if there is no result.
median() {
  local file
  file=$(file_of "$1" "$2" "$3")
  [[ -s $file ]] || {
    echo -
    return
  }
  sort -g "$file" | awk -v format="$4" -v factor="${5:-1}" '{a[NR] = $1 * factor} END {
    printf format, NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'
}

# ratio NAME WHAT NAME WHAT MODEL FORMAT [FACTOR]: prints the median of the ratios of the rounds.
ratio() {
  local above below
  above=$(file_of "$1" "$2" "$5") below=$(file_of "$3" "$4" "$5")
  [[ -s $above && -s $below ]] || {
    echo -
    return
  }
  paste "$above" "$below" | awk -v factor="${7:-1}" 'NF == 2 {print $1 / $2 * factor}' | sort -g |
    awk -v format="$6" '{a[NR] = $1} END {
      printf format, NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'
}

epochs_of() {
  local file
  file=$(file_of "$1" epochs "$2")
  if [[ -s $file ]]; then mean_with_interval <"$file"; else echo -; fi
}

# verdict_on_epochs NAME MODEL: prints whether rota and NAME differ in epochs, or only by chance.
verdict_on_epochs() {
  local ours theirs difference
  ours=$(file_of rota epochs "$2") theirs=$(file_of "$1" epochs "$2")
  [[ -s $ours && -s $theirs ]] && (($(wc -l <"$ours") > 1 && $(wc -l <"$theirs") > 1)) || return 0
  difference=$(difference_with_interval "$ours" "$theirs")
  awk -v name="${titles[$1]}" -v model="$2" -v said="$difference" 'BEGIN {
    split(said, part, " ± ")
    printf "Epochs of %s, rota minus %s: %s: ", model, name, said
    if (part[1] <= part[2] && -part[1] <= part[2]) print "these seeds show no difference.\n"
    else print "chance does not explain this difference.\n"}'
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

# losses_of MODEL: prints a sentence for each rate of a peer that is higher than rota's rate.
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
The example's models train on MNIST by SGD, with batches of 100 images for each worker. The learning
rate is 0.05, and the momentum is 0.9. Only the model named \`seed\` has a learning rate of 0.001,
and no momentum. The tables compare two workers of one thread each on two cores, the same workers
without communication, and one worker. Efficiency is the rate of two workers with communication,
divided by their rate without it. These rates were measured one after the other, so the efficiency
may be above 100 %. The tables have the medians of $rounds rounds, and the medians of the rounds'
ratios.

END
  for model in "${models[@]}"; do report_of "$model"; done
  cat <<END
In the next table, the first step is the time from the command to the end of the first step. Memory
is the largest memory of a worker: for mlp at the end of the last epoch, for the other models after
the first step. Seconds to $accuracy are the seconds of training, without evaluation, until
$accuracy of the test images are classified correctly at the end of an epoch; only mlp was trained
that long. All runs use the whole training set. The values of mlp are medians of
$rounds_to_accuracy runs, each with its own seed; the values of other models are medians of $rounds
runs. Epochs are the mean of the runs of mlp, with a confidence interval of 95 %.

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
