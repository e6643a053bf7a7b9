// The command-line options that rota's program and the programs of its peers all have.
#pragma once
#include <cxxopts.hpp>
#include <optional>
#include <string>

#include "collectives/method.h"

namespace rota::bench {

struct Arguments {
  Method method;
  bool json = false;
  std::string plot;  // File of the picture; empty: no picture.
  // Start of the job in seconds since 1970. If set, only the time from then to the end of the first
  // all-reduce is measured.
  std::optional<double> since;
};

// Parses a list such as "broadcast" or "reduce,all-gather". Returns an empty list if `text` is not
// a list of names.
std::vector<Collective> collectives_named(const std::string& text);

// Returns the options that all measuring programs have: --sizes, --types, … --help.
cxxopts::Options measurement_options(const std::string& program);

// Returns the parsed arguments. `collectives` is the name of the subcommand. Throws
// std::invalid_argument, which names the invalid option.
Arguments arguments_from(const std::string& collectives, const cxxopts::ParseResult& given);

}  // namespace rota::bench
