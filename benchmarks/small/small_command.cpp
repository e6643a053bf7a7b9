// `rota-bench small`: compares ways to all-reduce many small buffers. It runs every way once in
// each round, so that a machine that is slow for a while slows all ways. Ratios are taken within
// the rounds.
#include "commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cxxopts.hpp>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "collectives/sizes.h"
#include "option_numbers.h"
#include "statistics.h"

namespace rota::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kUsageError = 2;
constexpr std::size_t kCallsOfARound = 20;

struct Arguments {
  std::size_t buffers = 64;
  std::size_t bytes = 4096;  // Size of each buffer.
  std::size_t rounds = 51;
  bool any_memory = false;
  bool json = false;
  bool help = false;
};

struct Manner {
  const char* name;
  std::function<void()> call;
  std::vector<double> seconds;  // Time of the slowest rank in each round.
};

cxxopts::Options options_of_small() {
  cxxopts::Options options(
      "rotarun -np RANKS rota-bench small",
      "Times the all-reduce of many small buffers of float32, and of one buffer as large as all of "
      "them.\n"
      "Prints medians of rounds. A round sums all buffers a few times in each manner, and takes "
      "the mean time.");
  options.add_options()                                                                     //
      ("buffers", "Number of buffers", cxxopts::value<std::string>()->default_value("64"))  //
      ("bytes", "Size of each buffer, such as 4K",
       cxxopts::value<std::string>()->default_value("4K"))                                 //
      ("rounds", "Number of rounds", cxxopts::value<std::string>()->default_value("51"))   //
      ("memory", "shared or any", cxxopts::value<std::string>()->default_value("shared"))  //
      ("json", "Print one JSON object per manner")                                         //
      ("help", "Print this help");
  return options;
}

Arguments arguments_of(cxxopts::Options& options, int argument_count, char** arguments) {
  const auto given = options.parse(argument_count, arguments);
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  const auto sizes = parse_sizes(given["bytes"].as<std::string>(), "bytes");
  const auto memory = given["memory"].as<std::string>();
  if (memory != "shared" && memory != "any") {
    throw std::invalid_argument("--memory must be shared or any");
  }
  const Arguments wanted{.buffers = count_of_option(given, "buffers"),
                         .bytes = sizes.front() / sizeof(float) * sizeof(float),
                         .rounds = count_of_option(given, "rounds"),
                         .any_memory = memory == "any",
                         .json = given.count("json") != 0,
                         .help = given.count("help") != 0};
  if (sizes.size() != 1) throw std::invalid_argument("--bytes takes one size");
  if (wanted.bytes == 0) throw std::invalid_argument("--bytes must be at least 4");
  return wanted;
}

std::vector<Manner> manners_of(Communicator& comm, std::span<float> all,
                               const std::vector<Values>& buffers, std::vector<Request>& requests) {
  const auto one = [&comm, all] { comm.all_reduce(all, ReduceOp::kSum); };
  const auto group = [&comm, &buffers] {
    comm.all_reduce(std::span<const Values>(buffers), ReduceOp::kSum);
  };
  const auto in_flight = [&comm, &buffers, &requests] {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      requests[i] = comm.all_reduce_async(buffers[i], ReduceOp::kSum);
    }
    wait_all(requests);
  };
  const auto one_by_one = [&comm, &buffers] {
    for (const Values& buffer : buffers) comm.all_reduce(buffer, ReduceOp::kSum);
  };
  return {{"one call", one, {}},
          {"a group", group, {}},
          {"calls in flight", in_flight, {}},
          {"one after the other", one_by_one, {}}};
}

double seconds_of_call(Communicator& comm, const std::function<void()>& call) {
  comm.barrier();
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < kCallsOfARound; ++i) call();
  double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  comm.all_reduce(std::span(&seconds, 1), ReduceOp::kMax);
  return seconds / kCallsOfARound;
}

// Returns manner / divisor, round by round.
std::vector<double> ratios_of(const Manner& manner, const Manner& divisor) {
  std::vector<double> ratios(manner.seconds.size());
  std::ranges::transform(manner.seconds, divisor.seconds, ratios.begin(), std::divides<>());
  return ratios;
}

void print(const Communicator& comm, const Arguments& wanted, const std::vector<Manner>& manners) {
  std::printf("# all-reduce of %zu buffers of %zu bytes, float32, sum, %zu ranks, memory %s\n",
              wanted.buffers, wanted.bytes, comm.world_size(),
              wanted.any_memory ? "any" : "shared");
  std::printf("%-20s %10s %10s %12s %18s\n", "manner", "least us", "median us", "/ one call",
              "(least to most)");
  for (const Manner& manner : manners) {
    const std::vector<double> ratios = ratios_of(manner, manners.front());
    std::printf("%-20s %10.2f %10.2f %12.2f (%.2f to %.2f)\n", manner.name,
                std::ranges::min(manner.seconds) * 1e6, median(manner.seconds) * 1e6,
                median(ratios), std::ranges::min(ratios), std::ranges::max(ratios));
  }
}

void print_json(const std::vector<Manner>& manners) {
  for (const Manner& manner : manners) {
    std::printf(R"({"manner": "%s", "median_us": %.6g, "by_one_call": %.6g})"
                "\n",
                manner.name, median(manner.seconds) * 1e6,
                median(ratios_of(manner, manners.front())));
  }
}

void measure(const Arguments& wanted) {
  Communicator comm(CommunicatorOptions::from_environment());
  const std::size_t bytes = wanted.buffers * wanted.bytes;
  std::vector<float> own(wanted.any_memory ? bytes / sizeof(float) : 0);
  const Block block = comm.allocate(wanted.any_memory ? sizeof(float) : bytes);
  const std::span<float> all =
      wanted.any_memory
          ? std::span(own)
          : std::span(reinterpret_cast<float*>(block.bytes().data()), bytes / sizeof(float));
  const std::size_t count = wanted.bytes / sizeof(float);
  std::vector<Values> buffers;
  for (std::size_t i = 0; i < wanted.buffers; ++i) {
    buffers.emplace_back(all.subspan(i * count, count));
  }
  std::vector<Request> requests(buffers.size());
  std::vector<Manner> manners = manners_of(comm, all, buffers, requests);
  for (std::size_t round = 0; round < wanted.rounds + 1; ++round) {
    for (Manner& manner : manners) {
      const double seconds = seconds_of_call(comm, manner.call);
      if (round > 0) manner.seconds.push_back(seconds);  // The first round warms up.
    }
  }
  if (comm.rank() != 0) return;
  wanted.json ? print_json(manners) : print(comm, wanted, manners);
}

}  // namespace

int run_small_command(int argument_count, char** arguments) {
  cxxopts::Options options = options_of_small();
  Arguments wanted;
  try {
    wanted = arguments_of(options, argument_count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "rota-bench small: " << error.what() << '\n';
    return kUsageError;
  }
  if (wanted.help) {
    std::cout << options.help() << '\n';
    return 0;
  }
  measure(wanted);
  return 0;
}

}  // namespace rota::bench
