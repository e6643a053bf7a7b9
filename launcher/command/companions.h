// The programs that rotarun becomes or starts, and people do not. Each loads what no other start
// needs.
#pragma once
#include <string>
#include <vector>

namespace rota::launcher {

// Beside this program, as it is built and as the others are installed, or else where they are
// installed, whether or not it is there. Throws Error kSystem.
std::string companion_path(const std::string& name);

// Turns into that program, which people see under our name. Throws Error kSystem where it is not
// there: "`user` needs PATH, which is installed with `installed_with`".
[[noreturn]] void become_companion(const std::string& name,
                                   const std::vector<std::string>& arguments,
                                   const std::string& user,
                                   const std::string& installed_with = "rotarun");

// Whether "rotarun render ..." is meant, which has a command line of its own, and a program:
// rota-manifest. A program called render is started by "rotarun -- render", or by its path.
bool is_render(const std::vector<std::string>& arguments);

// Turns into rota-manifest, with what follows "render". Throws as become_companion().
[[noreturn]] void become_render(const std::vector<std::string>& arguments);

}  // namespace rota::launcher
