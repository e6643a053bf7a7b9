// The arguments of `rota-bench overlap`.
#pragma once
#include <cxxopts.hpp>

#include <rota/options.h>

#include "overlap/contest.h"

namespace rota::bench {

struct OverlapArguments {
  ContestOptions contest;
  CommunicatorOptions communicator;
  bool json = false;
};

cxxopts::Options overlap_options();

// Also reads the environment, and the key file if one is named. Throws std::exception with a
// sentence about an invalid argument.
OverlapArguments overlap_arguments_from(const cxxopts::ParseResult& given);

}  // namespace rota::bench
