// Where this build's programs and this project's sources lie. Only paths.cpp is compiled with the
// absolute paths, so that other checkouts can share every other object of a compiler cache.
#pragma once
#include <string>

namespace rota::testing {

// A program for users: "mnist". Without a name, their folder.
std::string bin_path(const std::string& name = "");

// A program that only tests start: "fault_ranks". Without a name, their folder.
std::string test_path(const std::string& name = "");

// A file of the project: "docs/manifests.md". Without a name, the project's root.
std::string source_path(const std::string& name = "");

}  // namespace rota::testing
