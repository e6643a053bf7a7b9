# Turns the comments of a header into comments that Doxygen reads. The first lines of a file
# describe the file. A comment on lines of its own describes what follows it. A comment at the end
# of a line describes the declaration before it on this line. The numbers of the lines do not
# change.
s|^#pragma once$|/// \\file|
/NOLINT/!{
  s|^( *)// |\1/// |
  s|^( *[^ /}].*[^ ]) +// |\1  ///< |
}
# Without the backslash, Doxygen would read a header in angle brackets as a tag of HTML.
\|///|s|<([a-z]+/)|\\<\1|g
