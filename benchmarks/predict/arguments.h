// The arguments of `rota-bench predict`.
#pragma once
#include <cxxopts.hpp>
#include <string>
#include <vector>

#include "predict/step.h"
#include "predict/world.h"

namespace rota::bench {

struct PredictArguments {
  std::string workload;                  // The name of a model, or the path of a file.
  std::vector<std::size_t> sizes;        // In bytes; not empty: all-reduces instead of steps.
  std::vector<std::size_t> host_counts;  // Empty with --worth, which looks for the number.
  WorldShape shape;                      // Of each world, except for the number of hosts.
  std::string transport;
  bool chooses_transport = false;  // A world of one host has its own one: see transport_of().
  std::string calibration;         // Path of a file; empty: none.
  std::string machine;
  double seconds_per_byte = 0;  // 0: that of the calibration.
  double latency_seconds = 0;   // The same.
  double burst_bytes = 0;
  StepOptions step;
  double least_efficiency = 0;  // Not 0: find the most hosts with this efficiency. A share.
  bool prints_workload = false;
  bool shows_cost = false;  // Of the command itself.
  bool json = false;
};

cxxopts::Options predict_options();

// Throws std::exception with a sentence about an invalid argument.
PredictArguments predict_arguments_from(const cxxopts::ParseResult& given);

// Returns the transport that rota chooses by default in the worlds of the arguments. Worlds of one
// host decide only if there are no others.
std::string default_transport(const PredictArguments& arguments);

// Returns the transport of a world of the arguments. If it was not named, ranks that all share a
// host use shared memory, whatever the other worlds use.
std::string transport_of(const PredictArguments& arguments, const WorldShape& shape);

// Returns the seconds for a byte at a rate such as "25G", in bits a second. Throws
// std::invalid_argument unless the rate is finite, more than 0, and has a unit or an exponent.
double seconds_per_byte_at(const std::string& rate);

// Returns the seconds in a text such as "30us", "0.1ms" or "2e-5s". Throws std::invalid_argument
// unless they are finite, more than 0, and have a unit or an exponent.
double seconds_in(const std::string& latency);

}  // namespace rota::bench
