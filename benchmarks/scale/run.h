// Runs `scale` in rota's program and in the programs of its peers.
#pragma once
#include <cxxopts.hpp>
#include <functional>

#include "collectives/group.h"
#include "scale/contest.h"

namespace rota::bench {

// Collective. Joins the ranks and measures. May throw std::invalid_argument if the program's own
// options or the batch are invalid.
using MeasureScale = std::function<ScaleResult(const cxxopts::ParseResult&, const ScaleOptions&)>;

// Runs a whole program: reads the arguments, measures, and prints the row on rank 0. `options` are
// scale_options() and the program's own options. arguments[0] is the name of the subcommand.
// Returns the exit code, which is 2 for invalid arguments. --help prints the help without a group.
int run_scale(cxxopts::Options options, int argument_count, char** arguments,
              const MeasureScale& measure);

}  // namespace rota::bench
