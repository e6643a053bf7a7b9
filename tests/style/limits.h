// The rules that a file can break alone, and those about words that have one home.
#pragma once
#include <vector>

#include "style/source.h"

namespace rota::style {

// A file starts with a comment that says what it is, a header has #pragma once, and nothing waits
// to be finished.
Findings check_opening(const Source& source);

// 500 lines a file, 200 a public header, 100 columns a line, 70 lines a function.
Findings check_limits(const Source& source);

// What a .cpp brings in by a using-declaration, it uses. Linters see that in a main file alone, and
// ours is a unit of several.
Findings check_using(const Source& source);

// errno exists in lib/os alone: everywhere else a failed call is an Error.
Findings check_errno(const Source& source);

// The environment is read in one file. `sources` are those of one component.
Findings check_environment(const std::vector<Source>& sources);

}  // namespace rota::style
