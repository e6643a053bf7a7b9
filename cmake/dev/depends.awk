# Writes a file for each compiled source, with everything in this tree that its lint depends on: its
# compile command, and the digest of each file that it includes, directly or not. Reads these files,
# in this order:
#   sums      lines of sha256sum, of all sources and headers
#   includes  lines "FILE:#include ...", as grep prints them
#   commands  lines "FILE<tab>COMMAND"
# The variable `folder` is the folder to write to, and `common` is what all sources depend on. An
# include may mean any file whose path ends with it, and all of these files count: a file too many
# costs time, and a file too few would hide a change.
FILENAME == ARGV[1] {
  path = substr($0, 67)
  sum[path] = $1
  # "lib/os/fd.h" is found as os/fd.h and as fd.h.
  for (end = path; ; end = substr(end, index(end, "/") + 1)) {
    named[end] = named[end] " " path
    if (index(end, "/") == 0) break
  }
  next
}
FILENAME == ARGV[2] {
  path = substr($0, 1, index($0, ":") - 1)
  if (match($0, /["<][^">]*[">]/)) {
    included = substr($0, RSTART + 1, RLENGTH - 2)
    gsub(/\.\.\//, "", included)
    includes[path] = includes[path] named[included]
  }
  next
}
{
  path = substr($0, 1, index($0, "\t") - 1)
  if (!(path in sum)) next
  out = folder "/" ++count
  print common, substr($0, index($0, "\t") + 1) >out
  split("", seen)
  seen[path] = 1
  split("", queue)
  queue[1] = path
  for (first = last = 1; first <= last; ++first) {
    print queue[first], sum[queue[first]] >out
    n = split(includes[queue[first]], next_ones, " ")
    for (i = 1; i <= n; ++i) {
      if (next_ones[i] in seen) continue
      seen[next_ones[i]] = 1
      queue[++last] = next_ones[i]
    }
  }
  close(out)
  print path
}
