// Companions are the programs that rotarun becomes or starts. People do not start a companion by
// hand. Each companion loads libraries that most runs of rotarun do not need.
#pragma once
#include <string>
#include <vector>

namespace rota::launcher {

// Returns the path of a companion. If the folder of this program has the companion, as in a build
// folder, the path leads there. Otherwise the path leads to the folder where companions are
// installed, and the file need not exist. Throws Error kSystem.
std::string companion_path(const std::string& name);

// Turns this process into the companion, which keeps this process's name. `user` names what needs
// the companion. Throws Error kSystem if the companion does not exist: "`user` cannot start PATH:
// WHY; this program is installed with `installed_with`".
[[noreturn]] void become_companion(const std::string& name,
                                   const std::vector<std::string>& arguments,
                                   const std::string& user,
                                   const std::string& installed_with = "rotarun");

// Returns whether the command is "rotarun render ...", which has its own command line and its own
// program, rota-manifest. A program called render is started by "rotarun -- render", or by its
// path.
bool is_render(const std::vector<std::string>& arguments);

// Turns this process into rota-manifest, with the arguments after "render". Throws like
// become_companion().
[[noreturn]] void become_render(const std::vector<std::string>& arguments);

}  // namespace rota::launcher
