// Runs a program that measures scaling from its arguments to its row.
#include "scale/run.h"

#include <iostream>
#include <stdexcept>

#include "scale/arguments.h"
#include "scale/row.h"

namespace rota::bench {
namespace {

constexpr int kUsageErrorOfScale = 2;

int complain(const cxxopts::Options& options, const std::exception& error) {
  std::cerr << options.program() << ": " << error.what() << '\n';
  return kUsageErrorOfScale;
}

}  // namespace

int run_scale(cxxopts::Options options, int argument_count, char** arguments,
              const MeasureScale& measure) {
  cxxopts::ParseResult given;
  ScaleArguments wanted;
  try {
    given = options.parse(argument_count, arguments);
    if (given.count("help") != 0) {
      std::cout << options.help() << '\n';
      return 0;
    }
    wanted = scale_arguments_from(given);
  } catch (const std::exception& error) {
    return complain(options, error);
  }
  ScaleResult result;
  try {
    result = measure(given, wanted.scale);
  } catch (const std::invalid_argument& error) {
    return complain(options, error);
  }
  if (result.rank != 0) return 0;
  const ScaleRow row = row_of(result);
  std::cout << (wanted.json ? to_json(row) : to_text(row)) << std::flush;
  return 0;
}

}  // namespace rota::bench
