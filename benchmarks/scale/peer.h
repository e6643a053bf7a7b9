// Runs the programs of rota's peers. `scale` takes the same paced steps as rota's, and a thread
// sums their gradients by blocking calls.
#pragma once
#include <functional>
#include <string>

#include <cxxopts.hpp>

#include "collectives/run.h"

namespace rota::bench {

// Returns whether the first argument of a program is `scale`.
bool wants_scale(int argument_count, char** arguments);

struct PeerProgram {
  std::string usage;                                     // How it is started: "gloo_bench".
  std::function<void(cxxopts::Options&)> add_options{};  // Adds those of the program's own group.
  MakeGroup make_group;
};

// Runs `scale`, or measures the collectives that the first argument names. `scale` also has
// --hosts: a peer's group does not know its hosts. Returns the exit code, as run_scale() and
// run_program() do.
int run_peer(const PeerProgram& program, int argument_count, char** arguments);

}  // namespace rota::bench
