// The options of `rota-bench scale`, which the programs of its peers have too.
#pragma once
#include <cxxopts.hpp>
#include <string>

#include "scale/contest.h"

namespace rota::bench {

struct ScaleArguments {
  ScaleOptions scale;
  bool json = false;
};

// Returns the images of a batch by default.
std::size_t default_batch_size(Scaling scaling) noexcept;

// `program` is the name that errors begin with: "rota-bench scale".
cxxopts::Options scale_options(const std::string& program);

// Throws std::invalid_argument with a sentence about an invalid argument.
ScaleArguments scale_arguments_from(const cxxopts::ParseResult& given);

}  // namespace rota::bench
