// The arguments that rota's program and its peers' have in common.
#pragma once
#include <cxxopts.hpp>
#include <string>

#include "all_reduce/method.h"

namespace rota::bench {

// --sizes, --iterations, --json, --help.
cxxopts::Options method_options(const std::string& program);

Method method_from(const cxxopts::ParseResult& given);

}  // namespace rota::bench
