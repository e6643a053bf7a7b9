# Makes Doxygen's comments of ours: the first lines of a file are about the file, other whole lines
# about what follows, and the end of a line about what it follows. Line numbers stay.
s|^#pragma once$|/// \\file|
/NOLINT/!{
  s|^( *)// |\1/// |
  s|^( *[^ /}].*[^ ]) +// |\1  ///< |
}
# A header in angle brackets is no tag.
\|///|s|<([a-z]+/)|\\<\1|g
