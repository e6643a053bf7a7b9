# Adds up a /proc/PID/smaps by what the memory is for. Prints a line for each part:
# "memory of a rank: PART RESIDENT PRIVATE", in KiB.

# A mapping begins with its addresses.
/^[0-9a-f]+-[0-9a-f]+ / {
  part = NF < 6 ? "anonymous" : $6
  sub(/^.*\//, "", part)
  if ($6 ~ /^\/memfd:/) part = "shared"
  next
}
$1 == "Size:" && part == "anonymous" && $2 >= 1024 { part = "anonymous-" $2 }
$1 == "Rss:" { resident[part] += $2 }
/^Private_/ { private[part] += $2 }

END {
  for (part in resident) print "memory of a rank: " part, resident[part], private[part] + 0
}
