// Has the rule about names in a page and in a picture: what they name must exist in the sources.
#pragma once
#include <vector>

#include "style/source.h"

namespace rota::style {

// Reports code between backticks in `page` that does not exist in `sources`: a path (with a slash
// or the ending of a source file) that no source has, and a C++ name (`HostPlan`, `Driver::step()`)
// that no source contains. Options, commands and plain words are not checked.
Findings check_names(const Source& page, const std::vector<Source>& sources);

// Reports names of files in an SVG picture that no source has: each text of the class 'small', up
// to a colon, is a list of names such as "tcp/channel, reducer". Texts with spaces are no names.
Findings check_picture_names(const Source& picture, const std::vector<Source>& sources);

}  // namespace rota::style
