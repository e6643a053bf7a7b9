# Writes, for each compiled source, a file that has everything its lint depends on in this tree: its
# command, and the digest of each file that it includes, directly or not. Read are, in this order:
#   sums      lines of sha256sum, of all sources and headers
#   includes  lines "FILE:#include ...", as grep has them
#   commands  lines "FILE<tab>COMMAND"
# The variables are the folder to write to and what all depend on in common.
# An include is followed to each file whose path ends with it: rather one too many than one too few.
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
