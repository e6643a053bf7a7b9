// Has the rule about names in a page: a name in backticks must exist in the sources.
#pragma once
#include <vector>

#include "style/source.h"

namespace rota::style {

// Reports code between backticks in `page` that does not exist in `sources`: a path (with a slash
// or the ending of a source file) that no source has, and a C++ name (`HostPlan`, `Driver::step()`)
// that no source contains. Options, commands and plain words are not checked.
Findings check_names(const Source& page, const std::vector<Source>& sources);

}  // namespace rota::style
