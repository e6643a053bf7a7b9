# Reads a JUnit file that ctest has written. Prints a line "skipped<tab>TEST<tab>REASON" for each
# skipped test, even if a program with many tests is a single ctest test. Prints a line
# "failed<tab>TEST" for each failed test, then GoogleTest's messages about it and the end of its
# output.
function plain(text) {
  gsub(/&lt;/, "<", text)
  gsub(/&gt;/, ">", text)
  gsub(/&quot;/, "\"", text)
  gsub(/&apos;/, "'", text)
  gsub(/&amp;/, "\\&", text)
  return text
}

function end_of_test(  i, last, told, reason) {
  if (failing) {
    print "failed\t" name
    last = n > 60 ? n - 60 : 0
    # GoogleTest: "FILE:LINE: Failure" or "unknown file: Failure", and then the expected value.
    for (i = 0; i < last; ++i) {
      if (lines[i] ~ /: Failure$/) told = 12
      if (told-- > 0) print substr(lines[i], 1, 300)
    }
    for (i = last; i < n; ++i) print substr(lines[i], 1, 300)
    return
  }
  for (i = 0; i < n; ++i) {
    # GoogleTest: "FILE:LINE: Skipped", the reason, an empty line, "[  SKIPPED ] Suite.Name (0 ms)".
    if (lines[i] ~ /: Skipped$/)
      reason = lines[i + 1] ~ /^\[/ ? "it does not say why" : lines[i + 1]
    if (lines[i] ~ /^\[  SKIPPED \] .* \([0-9]+ ms\)$/) {
      split(lines[i], words, " ")
      print "skipped\t" (index(name, words[4]) ? name : name ": " words[4]) "\t" reason
      told = 1
    }
  }
  # Other tests print the reason in the last line of their output.
  if (idle && !told) print "skipped\t" name "\t" (n ? lines[n - 1] : "it does not say why")
}

/<testcase / {
  name = $0
  sub(/.*<testcase name="/, "", name)
  sub(/".*/, "", name)
  name = plain(name)
  n = inside = 0
  failing = / status="fail"/
  idle = / status="(notrun|disabled)"/
}
/<system-out>/ {
  inside = 1
  sub(/.*<system-out>/, "")
}
inside {
  last = /<\/system-out>/
  sub(/<\/system-out>.*/, "")
  if ($0 != "") lines[n++] = plain($0)
  if (last) inside = 0
}
/<\/testcase>/ { end_of_test() }
