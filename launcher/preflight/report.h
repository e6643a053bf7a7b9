// What was found, for people and for programs.
#pragma once
#include <string>

#include "launcher/preflight/judgement.h"

namespace rota::preflight {

// A line for each check, a table of the ring's edges, and the verdict.
std::string to_text(const Inspection& inspection, const Judgement& judgement);

// One object: verdict, code, reason, version, checks, hosts, edges. What is not known is null.
std::string to_json(const Inspection& inspection, const Judgement& judgement);

}  // namespace rota::preflight
