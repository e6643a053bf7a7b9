// "rotarun render ...", which has a command line of its own, and a program: rota-manifest.
#pragma once
#include <string>
#include <vector>

namespace rota::launcher {

// Whether that is meant. A program of that name is started by "rotarun -- render", or by its path.
bool is_render(const std::vector<std::string>& arguments);

// Turns into that program, with what follows "render". Throws Error kSystem where it is not there.
[[noreturn]] void become_render(const std::vector<std::string>& arguments);

}  // namespace rota::launcher
