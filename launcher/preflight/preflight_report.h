// Reports the result of a preflight, for people and for programs.
#pragma once
#include <string>

#include "launcher/preflight/judgement.h"

namespace rota::preflight {

// Returns a line for each check, a table of the ring's edges, and the verdict.
std::string to_text(const Inspection& inspection, const Judgement& judgement);

// Returns one object: verdict, code, reason, checks, hosts, edges. Unknown values are null.
std::string to_json(const Inspection& inspection, const Judgement& judgement);

}  // namespace rota::preflight
