// Lists the shared libraries that this process has loaded.
#pragma once
#include <string>
#include <vector>

namespace rota::os {

// Returns the paths of all shared libraries that are loaded now, with the program or by dlopen().
std::vector<std::string> loaded_libraries();

}  // namespace rota::os
