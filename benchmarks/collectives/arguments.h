// The arguments that rota's program and its peers' have in common.
#pragma once
#include <cxxopts.hpp>
#include <optional>
#include <string>

#include "collectives/method.h"

namespace rota::bench {

struct Arguments {
  Method method;
  bool json = false;
  std::string plot;             // The file; empty where none is wanted.
  std::optional<double> since;  // In seconds since 1970: when the job was started, where that is
                                // all that is to be measured.
};

// The collectives of "broadcast" or "reduce,all-gather"; empty where `text` is no such list.
std::vector<Collective> collectives_named(const std::string& text);

// --sizes, --types, … --help.
cxxopts::Options measurement_options(const std::string& program);

// `collectives` is the name of the subcommand. Throws std::invalid_argument, naming the option,
// where one makes no sense.
Arguments arguments_from(const std::string& collectives, const cxxopts::ParseResult& given);

}  // namespace rota::bench
