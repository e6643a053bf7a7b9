# Keeps what rounds have measured, and prints medians, ranges and verdicts, for scripts that set
# `work`, a folder. A program of a round prints rows, see benchmarks/row.h. The values of one figure,
# one line for each round, are in the file $work/GROUP/WHAT.
# shellcheck shell=bash

# Elsewhere, awk, printf, sort and EPOCHREALTIME may read and write a comma for the point of a number.
export LC_ALL=C

# note GROUP: reads rows from standard input, and adds their values to the group.
note() {
  local what value
  mkdir -p "$work/$1"
  while read -r value what; do echo "$value" >>"$work/$1/$what"; done < <(
    sed -n 's/^{"what": "\([^"]*\)", "value": \([^}]*\)}$/\2 \1/p')
}

# paragraph: fills the lines of the text on standard input, and adds an empty line.
paragraph() {
  paste -sd ' ' | fold -s -w 100 | sed 's/ *$//'
  echo
}

is_measured() { [[ -s $work/$1 ]]; }

# spread_of FORMAT FACTOR: prints "median (least to most)" of the numbers on standard input.
spread_of() {
  sort -g | awk -v format="$1" -v factor="$2" '{a[NR] = $1 * factor} END {
    middle = NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2
    printf format " (" format " to " format ")", middle, a[1], a[NR]}'
}

# spread FIGURE FORMAT [FACTOR]: FIGURE is GROUP/WHAT. Prints a dash if it was not measured.
spread() {
  if is_measured "$1"; then spread_of "$2" "${3:-1}" <"$work/$1"; else echo -n -; fi
}

# ratios FIGURE OTHER: prints FIGURE / OTHER for each round.
ratios() { paste "$work/$1" "$work/$2" | awk 'NF == 2 {print $1 / $2}'; }

# share FIGURE OTHER FORMAT [FACTOR]: prints the spread of FIGURE / OTHER. If one of them was not
# measured, it prints a dash.
share() {
  if is_measured "$1" && is_measured "$2"; then
    ratios "$1" "$2" | spread_of "$3" "${4:-1}"
  else
    echo -n -
  fi
}

# verdict RELATION BOUND FORMAT FACTOR TEXT: reads numbers, and prints an item of a list: whether
# their median is 'at most' or 'at least' the bound. TEXT says what they are, and gets the spread in
# the place of %s.
verdict() {
  local spread
  spread=$(spread_of "$3" "$4")
  awk -v relation="$1" -v bound="$2" -v spread="$spread" -v text="$5" 'BEGIN {
    met = relation == "at most" ? spread + 0 <= bound + 0 : spread + 0 >= bound + 0
    sub("%s", spread, text)
    printf "- %s: %s; the bound is %s %s.\n", met ? "met" : "**missed**", text, relation, bound}' |
    fold -s -w 98 | sed '2,$ s/^/  /; s/ *$//'
}

# verdict_of FIGURE RELATION BOUND FORMAT FACTOR TEXT: the verdict on a figure, if it was measured.
verdict_of() { ! is_measured "$1" || verdict "${@:2}" <"$work/$1"; }

# verdict_on FIGURE OTHER RELATION BOUND FORMAT FACTOR TEXT: the verdict on FIGURE / OTHER of each
# round, if both were measured.
verdict_on() {
  is_measured "$1" && is_measured "$2" || return 0
  ratios "$1" "$2" | verdict "${@:3}"
}
