// Paths of this build's programs and of this project's sources. Only paths.cpp is compiled with
// absolute paths, so checkouts can share all other objects in a compiler cache. If the environment
// variable ROTA_MOVED_TO names a folder, the paths are in bin/, tests/ and source/ of that folder.
#pragma once
#include <string>

namespace rota::testing {

// Returns the path of a program for users, such as "mnist". Without a name: the folder of these
// programs.
std::string bin_path(const std::string& name = "");

// Returns the path of a program that only tests start, such as "fault_ranks". Without a name: the
// folder of these programs.
std::string test_path(const std::string& name = "");

// Returns the path of a project file, such as "docs/manifests.md". Without a name: the project's
// root.
std::string source_path(const std::string& name = "");

}  // namespace rota::testing
