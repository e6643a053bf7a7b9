# Judges what the emulated computer has said. Ends with the exit code of the job that ran there, or
# with 1 if a bound is missed. A MB is a million bytes.
BEGIN {
  most_rank = 24.6e6  # 24 MB, and 0.6 MB of images.
  most_launcher = 2e6
  least_accuracy = 0.7
  code = -1
}

# Says what is wrong.
function miss(what) {
  print "dev: arm: " what
  missed = 1
}

/^peak of a rank: / { ++ranks; if ($5 > peak) peak = $5 }
/^private memory of rotarun: / { ++launchers; private += $5 }
/"event":"done"/ && match($0, /"test_accuracy":[0-9.]+/) {
  accuracy = substr($0, RSTART + 16, RLENGTH - 16)
}
/^machine: the job ended with [0-9]+$/ { code = $NF }

END {
  if (code == -1) {
    print "dev: arm: the machine did not say how the job ended, in " seconds " seconds"
    exit 1
  }
  if (code != 0) {
    print "dev: arm: the job in the machine ended with " code
    exit code
  }
  printf "==> accuracy %.3f, at least %.2f\n", accuracy, least_accuracy
  printf "==> a rank took up to %.1f MB; at most %.1f\n", peak * 1024 / 1e6, most_rank / 1e6
  printf "==> rotarun's %d processes took %.2f MB that nobody shares; at most %.0f\n", launchers,
    private * 1024 / 1e6, most_launcher / 1e6
  if (accuracy < least_accuracy) miss("the accuracy is too low")
  if (ranks != 4) miss("4 ranks were to be measured, not " ranks + 0)
  if (peak * 1024 > most_rank) miss("a rank took too much memory")
  if (launchers != 2) miss("2 processes of rotarun were to be measured, not " launchers + 0)
  if (private * 1024 > most_launcher) miss("rotarun took too much memory")
  exit missed
}
