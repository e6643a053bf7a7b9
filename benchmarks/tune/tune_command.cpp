// `rota-bench tune`: measures a model of the world, predicts costs, runs the best few plans and
// writes the winners into a file. With --calibration, only measures the model.
#include "commands.h"

#include <algorithm>
#include <cxxopts.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "collectives/choice.h"
#include "collectives/sizes.h"
#include "option_numbers.h"
#include "os/system_error.h"
#include "predict/calibration.h"
#include "tune/ranks.h"
#include "tune/report.h"
#include "tune/selection.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;

constexpr int kUsageError = 2;

// A plan replaces the default only if the default is slower by more than this fraction.
constexpr double kMargin = 0.05;

struct TuneArguments {
  std::string output;
  std::string calibration;
  std::vector<std::size_t> sizes;
  std::size_t tried = 0;
  double seconds = 0;
  bool same_bits = false;
};

cxxopts::Options tune_options() {
  cxxopts::Options options(
      "rotarun -np RANKS rota-bench tune",
      "Finds the fastest plan of an all-reduce of each size in this world: predicts the cost of "
      "each\nfrom a few measured numbers, runs the best few, and writes the winners into a file, "
      "which\nrotarun --tuned reads.");
  options.add_options()                                                              //
      ("o,output", "The file to write (default: none; the result is only printed)",  //
       cxxopts::value<std::string>())                                                //
      ("calibration", "Only measure the costs of this world, and write them to this file",
       cxxopts::value<std::string>())                                       //
      ("sizes", "Sizes in bytes, ascending",                                //
       cxxopts::value<std::string>()->default_value("4:64M:x4"))            //
      ("try", "Number of plans to run for each size, besides the default",  //
       cxxopts::value<std::string>()->default_value("3"))                   //
      ("seconds", "Approximate time for each size",                         //
       cxxopts::value<std::string>()->default_value("1"))                   //
      ("same-bits",
       "Only plans that give the same bits as the default: ring, direct, hub, by-host and "
       "shared-memory")  //
      ("help", "Print this help");
  return options;
}

// Returns empty if --help was given.
std::optional<TuneArguments> read(int argument_count, char** arguments) {
  auto options = tune_options();
  const auto given = options.parse(argument_count, arguments);
  if (given.count("help") != 0) {
    std::cout << options.help() << '\n';
    return std::nullopt;
  }
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  const auto text_of = [&](const std::string& option) {
    return given.count(option) != 0 ? given[option].as<std::string>() : std::string();
  };
  TuneArguments read{.output = text_of("output"),
                     .calibration = text_of("calibration"),
                     .sizes = parse_sizes(given["sizes"].as<std::string>()),
                     .tried = count_of_option(given, "try"),
                     .seconds = positive_number_of(given, "seconds"),
                     .same_bits = given.count("same-bits") != 0};
  for (std::size_t& bytes : read.sizes) bytes = std::max<std::size_t>(4, bytes / 4 * 4);
  if (std::ranges::adjacent_find(read.sizes, std::ranges::greater_equal()) != read.sizes.end()) {
    throw std::invalid_argument("--sizes must ascend");
  }
  if (!read.calibration.empty() && !read.output.empty()) {
    throw std::invalid_argument("--calibration runs no plan, so there is nothing for --output");
  }
  return read;
}

Size measure(TunedRanks& ranks, const WorldModel& model, const TuneArguments& arguments,
             std::size_t bytes) {
  Size size{.bytes = bytes,
            .by_default = collectives::choose({.type = DataType::kByte, .count = bytes},
                                              {.world_size = ranks.world_size(),
                                               .shares_memory = ranks.shares_memory(),
                                               .host_count = host_count_of(ranks.topology().hosts)})
                              .algorithm};
  for (const Algorithm algorithm :
       plans_of_all_reduce(ranks.shares_memory(), arguments.same_bits)) {
    size.candidates.push_back({algorithm, predict(model, algorithm, bytes)});
  }
  const std::vector<Algorithm> worthy = worth_a_run(size, arguments.tried);
  const auto times = ranks.measure_all_reduces(worthy, bytes, arguments.seconds);
  for (std::size_t i = 0; i < worthy.size(); ++i) {
    std::ranges::find(size.candidates, worthy[i], &Candidate::algorithm)->measured = times[i];
  }
  return size;
}

// Throws Error, which says why, if the file cannot be written. Leaves no new file.
void require_writable(const std::string& path) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
  std::ofstream file(path, std::ios::app);
  if (!file) os::throw_errno("cannot write " + path);
  file.close();
  if (is_new) std::filesystem::remove(path, ignored);
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) os::throw_errno("cannot write " + path);
}

// Measures what rota-bench predict needs. No plan is run.
void calibrate(TunedRanks& ranks, const std::string& path) {
  const Topology topology = ranks.topology();
  Calibration calibration{.machine = this_machine(),
                          .transport = topology.transport + (topology.encrypts ? " encrypted" : ""),
                          .costs = ranks.measure_model()};
  for (std::size_t i = 1; i < kernels::kCodecCount; ++i) {
    const auto codec = static_cast<Codec>(i);
    calibration.codecs[codec] = ranks.measure_codec(codec);
  }
  if (ranks.rank() != 0) return;
  std::cout << to_text(calibration);
  write(path, to_text(calibration));
}

void tune(TunedRanks& ranks, const TuneArguments& arguments) {
  const bool speaks = ranks.rank() == 0;
  const WorldModel model = ranks.measure_model();
  TunedTable table{.topology = ranks.topology()};
  if (speaks) std::cout << to_text(table.topology, model) << '\n' << std::flush;
  std::vector<Size> sizes;
  for (const std::size_t bytes : arguments.sizes) {
    sizes.push_back(measure(ranks, model, arguments, bytes));
    if (speaks) std::cout << to_text(sizes.back(), kMargin) << std::flush;
  }
  table.all_reduce = rows_of(sizes, kMargin);
  if (!speaks) return;
  std::cout << '\n' << to_text(table);
  if (!arguments.output.empty()) {
    write(arguments.output, tuned_text(table, model, sizes, kMargin));
  }
}

}  // namespace

int run_tune_command(int argument_count, char** arguments) {
  std::optional<TuneArguments> given;
  try {
    given = read(argument_count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "rota-bench tune: " << error.what() << '\n';
    return kUsageError;
  }
  if (!given) return 0;
  TunedRanks ranks(CommunicatorOptions::from_environment());
  if (ranks.world_size() == 1) {
    std::cerr
        << "rota-bench tune: one rank has nothing to choose; start several with rotarun -np\n";
    return kUsageError;
  }
  // Measuring takes long, so this is found out before.
  const std::string& path = given->calibration.empty() ? given->output : given->calibration;
  if (ranks.rank() == 0 && !path.empty()) require_writable(path);
  if (given->calibration.empty()) {
    tune(ranks, *given);
  } else {
    calibrate(ranks, given->calibration);
  }
  return 0;
}

}  // namespace rota::bench
