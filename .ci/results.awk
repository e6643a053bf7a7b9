# Reads a JUnit file that ctest has written, and prints lines whose fields are separated by tabs:
#
#   test     TEST                 any test, before the other lines about it.
#   failed   TEST  KIND           a failed test. KIND is damage if its output has a message of a
#                                 sanitizer or of the allocator, late if a deadline has passed and
#                                 no value beside it is wrong, or else wrong.
#   skipped  TEST  WHAT  REASON   a skip in a test that ran. WHAT is TEST, or "TEST: Suite.Name" if a
#                                 program with many tests is a single ctest test.
#   idle     TEST  WHAT  REASON   a test that was skipped whole, or did not run.
#   said     TEST  LINE           after a failed test: GoogleTest's messages about it, then the end
#                                 of its output.
function plain(text) {
  gsub(/&lt;/, "<", text)
  gsub(/&gt;/, ">", text)
  gsub(/&quot;/, "\"", text)
  gsub(/&apos;/, "'", text)
  gsub(/&amp;/, "\\&", text)
  return text
}

# say(LINE) prints a line that a failed test has said.
function say(line) {
  gsub(/\t/, " ", line)
  print "said\t" name "\t" substr(line, 1, 300)
}

# kind_of_failure() looks at all that a failed test has said. If GoogleTest names a line of a source,
# an expectation there has failed. Its value is wrong, unless its message names a deadline, or a
# deadline has passed before in this test of GoogleTest. An exception may be that of another rank.
function kind_of_failure(  i, kind, is_open, was_late) {
  kind = "wrong"
  for (i = 0; i < n; ++i) if (lines[i] ~ damage) return "damage"
  for (i = 0; i < n; ++i) {
    if (lines[i] ~ /^\[ RUN  /) was_late = 0
    if (lines[i] ~ /: Failure$|^\[  FAILED  \] /) {
      if (is_open) return "wrong"
      is_open = !was_late && lines[i] ~ /:[0-9]+: Failure$/
    } else if (lines[i] ~ in_vain) {
      kind = "late"
      was_late = 1
    } else if (lines[i] ~ late) {
      kind = "late"
      if (is_open && lines[i] !~ /^C\+\+ exception/) {
        is_open = 0
        was_late = 1
      }
    }
  }
  return is_open ? "wrong" : kind
}

function end_of_test(  i, last, told, reason) {
  print "test\t" name
  if (failing) {
    print "failed\t" name "\t" kind_of_failure()
    last = n > 60 ? n - 60 : 0
    # GoogleTest: "FILE:LINE: Failure" or "unknown file: Failure", and then the expected value.
    for (i = 0; i < last; ++i) {
      if (lines[i] ~ /: Failure$/) told = 12
      if (told-- > 0) say(lines[i])
    }
    for (i = last; i < n; ++i) say(lines[i])
    return
  }
  for (i = 0; i < n; ++i) {
    # GoogleTest: "FILE:LINE: Skipped", the reason, an empty line, "[  SKIPPED ] Suite.Name (0 ms)".
    if (lines[i] ~ /: Skipped$/)
      reason = lines[i + 1] ~ /^\[/ ? "it does not say why" : lines[i + 1]
    if (lines[i] ~ /^\[  SKIPPED \] .* \([0-9]+ ms\)$/) {
      split(lines[i], words, " ")
      print (idle && !told ? "idle" : "skipped") "\t" name "\t" \
        (index(name, words[4]) ? name : name ": " words[4]) "\t" reason
      told = 1
    }
  }
  # Other tests print the reason in the last line of their output.
  if (idle && !told)
    print "idle\t" name "\t" name "\t" (n ? lines[n - 1] : "it does not say why")
}

BEGIN {
  damage = "Sanitizer|runtime error:|free\\(\\): |malloc\\(\\): |double free|stack smashing"
  # What Errors of the library and rotarun say. Commands have the word "deadline" as well.
  late = "timed out after [0-9]|no connection with .* at the deadline|" \
    "did not .* within [0-9.]+ m?s|--timeout has passed|no start request arrived within|" \
    "not all of its ranks have .* in time|did not answer (this rank's join|about '.*')|" \
    "does not read this rank's messages|did not (fetch|hand over) the memory that|" \
    "too many processes wait at|the launcher's PMI server: this rank waits for|" \
    "the launcher's PMIx server: (it does not answer|reading .* takes long|" \
    "not all ranks have reached the fence|it has no value of rank 0 yet)"
  # What tests/testing/process.cpp says if a program takes longer than a test allows.
  in_vain = "^waited in vain for [0-9]"
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
