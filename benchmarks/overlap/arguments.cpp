// Parses the options of the training run, and the options for joining the other ranks.
#include "overlap/arguments.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "option_numbers.h"

namespace rota::bench {
namespace {

void take_count(const cxxopts::ParseResult& given, const std::string& option, std::size_t& count) {
  if (given.count(option) != 0) count = count_of_option(given, option);
}

std::string read_key(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string key(std::istreambuf_iterator<char>(file), {});
  if (!file || key.empty()) throw std::runtime_error("--key-file: cannot read " + path);
  return key;
}

std::optional<JobByHand> job_from(const cxxopts::ParseResult& given) {
  const bool has_rank = given.count("rank") != 0;
  if (has_rank != (given.count("addresses") != 0)) {
    throw std::invalid_argument("--rank and --addresses need each other");
  }
  if (!has_rank) {
    if (given.count("key-file") == 0) return std::nullopt;
    throw std::invalid_argument("--key-file needs --rank and --addresses");
  }
  JobByHand job{.table = table_of(given["addresses"].as<std::vector<std::string>>()),
                .rank = whole_number_of(given, "rank")};
  if (given.count("key-file") != 0) job.key = read_key(given["key-file"].as<std::string>());
  return job;
}

}  // namespace

cxxopts::Options overlap_options() {
  cxxopts::Options options("rotarun -np RANKS rota-bench overlap",
                           "Times training steps of LeNet that sum gradients during the backward "
                           "pass, and steps that sum\n"
                           "them at its end. Without rotarun, start each rank with --rank and "
                           "--addresses.");
  options.add_options()                                                              //
      ("batch-size", "Samples per rank and step", cxxopts::value<std::string>())     //
      ("steps", "Steps of each kind in a row", cxxopts::value<std::string>())        //
      ("rounds", "Measurements of each time", cxxopts::value<std::string>())         //
      ("rank", "This rank, if there is no launcher", cxxopts::value<std::string>())  //
      ("addresses", "HOST:PORT of each rank, separated by commas",
       cxxopts::value<std::vector<std::string>>())                                              //
      ("key-file", "File with the key, the same for all ranks", cxxopts::value<std::string>())  //
      ("json", "Print JSON objects, one per line")                                              //
      ("help", "Print this help");
  return options;
}

OverlapArguments overlap_arguments_from(const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  OverlapArguments arguments;
  ContestOptions& contest = arguments.contest;
  take_count(given, "batch-size", contest.batch_size);
  take_count(given, "steps", contest.steps);
  take_count(given, "rounds", contest.rounds);
  arguments.communicator = CommunicatorOptions::from_environment();
  arguments.communicator.by_hand = job_from(given);
  arguments.json = given.count("json") != 0;
  return arguments;
}

}  // namespace rota::bench
