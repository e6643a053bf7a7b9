// Where the programs lie that rotarun becomes or starts, and people do not.
#pragma once
#include <string>

namespace rota::launcher {

// Beside this program, as it is built and as the others are installed, or else where they are
// installed, whether or not it is there. Throws Error kSystem.
std::string companion_path(const std::string& name);

}  // namespace rota::launcher
