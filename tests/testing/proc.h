// Reads /proc. A process may end at any time, even while its files are read. Its files are empty
// then. The streams and the range-for loops of the standard library would throw.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace rota::testing {

// Returns what a file of /proc/PID contains, such as "cmdline". Empty if the process is gone.
std::string proc_file(pid_t pid, const std::string& name);

// Returns all processes that this one can see.
std::vector<pid_t> all_processes();

// Returns the target of each open descriptor of a process, such as "socket:[4026]". Empty if the
// process is gone.
std::vector<std::string> descriptor_targets(pid_t pid);

}  // namespace rota::testing
