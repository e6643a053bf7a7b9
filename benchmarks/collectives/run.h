// What rota's program and its peers' do once they have a group.
#pragma once
#include <functional>
#include <memory>

#include <cxxopts.hpp>

#include "collectives/arguments.h"
#include "collectives/group.h"

namespace rota::bench {

// Measures, and prints and draws on rank 0. Returns the exit code: 1 where a result was wrong, or
// where there was nothing to measure. Collective.
int run_measurement(Group& group, const Arguments& arguments);

// The program: reads the arguments, of which arguments[1] names the collectives, makes the group
// and runs the measurement. `options` are measurement_options with the program's own, of which
// `make_group` may throw std::invalid_argument. Help is printed where it is asked for, without a
// group.
using MakeGroup = std::function<std::unique_ptr<Group>(const cxxopts::ParseResult&)>;
int run_program(cxxopts::Options options, int argument_count, char** arguments,
                const MakeGroup& make_group);

}  // namespace rota::bench
