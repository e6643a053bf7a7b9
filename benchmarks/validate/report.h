// Shows a validation on a page.
#pragma once
#include <string>

#include "validate/judgement.h"

namespace rota::bench {

// Returns the criteria, the misses and the points that were left out, by name, and tables of all
// points, in Markdown.
std::string to_markdown(const Validation& validation);

}  // namespace rota::bench
