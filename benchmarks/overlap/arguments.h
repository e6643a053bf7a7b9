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

// Reads the environment, and the key's file where there is one. Throws std::exception with a
// sentence about what does not fit.
OverlapArguments overlap_arguments_from(const cxxopts::ParseResult& given);

}  // namespace rota::bench
