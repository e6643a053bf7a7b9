// Runs the measurement in rota's program and in the programs of its peers.
#pragma once
#include <functional>
#include <memory>

#include <cxxopts.hpp>

#include "collectives/arguments.h"
#include "collectives/group.h"

namespace rota::bench {

// Collective. Measures; rank 0 prints and draws. Returns the exit code: 1 if a result was wrong, or
// if there was nothing to measure.
int run_measurement(Group& group, const Arguments& arguments);

// Runs a whole program: reads the arguments, makes the group and measures. arguments[1] names the
// collectives. `options` are measurement_options() and the program's own options. `make_group` may
// throw std::invalid_argument if the program's own options are invalid. --help prints the help
// without a group.
using MakeGroup = std::function<std::unique_ptr<Group>(const cxxopts::ParseResult&)>;
int run_program(cxxopts::Options options, int argument_count, char** arguments,
                const MakeGroup& make_group);

}  // namespace rota::bench
