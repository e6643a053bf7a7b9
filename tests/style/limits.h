// Has the rules that a single file can break, and the rules for words that only one folder may use.
#pragma once
#include <vector>

#include "style/source.h"

namespace rota::style {

// Checks that a file starts with a comment that says what it is, that a header has #pragma once,
// and that nothing is unfinished.
Findings check_opening(const Source& source);

// Checks the limits: 500 lines per file, 200 per public header, 100 columns per line, 70 lines per
// function.
Findings check_limits(const Source& source);

// Checks the limits of the pages that a newcomer reads first: 80 lines of README.md, 250 of
// ARCHITECTURE.md. Other pages have no limit.
Findings check_page_length(const Source& page);

// Checks that a .cpp file uses every name that it brings in with a using-declaration. Linters check
// this only in a main file, and in rota's builds that file is a unit of several sources.
Findings check_using(const Source& source);

// Checks that only lib/os uses errno: elsewhere a failed call is an Error.
Findings check_errno(const Source& source);

// Checks that no file writes or reads a number with a point by a function that uses the locale:
// printf with %f or %g, a stream, strtod and the like. It cannot see the type of an argument, and
// so does not find std::to_string of a double.
Findings check_number_text(const Source& source);

// Checks that only one file reads the environment. `sources` are the files of one component.
Findings check_environment(const std::vector<Source>& sources);

}  // namespace rota::style
