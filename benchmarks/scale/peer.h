// Runs `scale` in the programs of rota's peers: the same paced steps, whose gradients a thread sums
// by blocking calls.
#pragma once
#include <cxxopts.hpp>

#include "collectives/run.h"

namespace rota::bench {

// Returns whether the first argument of a program is `scale`.
bool wants_scale(int argument_count, char** arguments);

// Returns scale_options() and --hosts: a peer's group does not know its hosts.
cxxopts::Options peer_scale_options(const std::string& program);

// Runs the program with options of peer_scale_options(). arguments[0] is `scale`. Returns the exit
// code as run_scale() does.
int run_scale_of_peer(cxxopts::Options options, int argument_count, char** arguments,
                      const MakeGroup& make_group);

}  // namespace rota::bench
