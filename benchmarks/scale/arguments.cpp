// Checks every argument before any rank joins.
#include "scale/arguments.h"

#include <optional>
#include <stdexcept>

#include "option_numbers.h"
#include "scale/row.h"
#include "scale/workload.h"

namespace rota::bench {
namespace {

// As in the example. Strong scaling needs a batch that many numbers of ranks divide.
constexpr std::size_t kWeakBatch = 100;
constexpr std::size_t kStrongBatch = 240;

std::size_t count_from(const cxxopts::ParseResult& given, const std::string& option,
                       std::size_t otherwise) {
  return given.count(option) != 0 ? count_of_option(given, option) : otherwise;
}

// Returns a positive number, or nothing if the option is not given.
std::optional<double> rate_from(const cxxopts::ParseResult& given, const std::string& option) {
  if (given.count(option) == 0) return std::nullopt;
  return positive_number_of(given, option);
}

}  // namespace

std::size_t default_batch_size(Scaling scaling) noexcept {
  return scaling == Scaling::kWeak ? kWeakBatch : kStrongBatch;
}

cxxopts::Options scale_options(const std::string& program) {
  const ScaleOptions standard;
  cxxopts::Options options(
      program,
      "Runs as the ranks of a job. Times training steps, and says how efficient they are. The "
      "steps\n"
      "are paced: a rank sleeps while it would compute, and gives its gradients away when a\n"
      "backward pass would have them. So ranks that share a core do not slow each other.");
  options.add_options()  //
      ("model", "lenet or mlp, of the example",
       cxxopts::value<std::string>()->default_value(standard.model))  //
      ("scaling", "weak: each rank has a batch; strong: all ranks share one",
       cxxopts::value<std::string>()->default_value(to_string(standard.scaling)))                //
      ("batch-size", "Images of a batch: 100, or 240 if strong", cxxopts::value<std::string>())  //
      ("images-per-second", "The pace of one rank; by default, as docs/benchmarks/training.md",
       cxxopts::value<std::string>())  //
      ("rate", "Mbit/s of a host's cable, for the efficiency that bytes allow",
       cxxopts::value<std::string>())  //
      ("steps", "Steps of each kind in a row",
       cxxopts::value<std::string>()->default_value(std::to_string(standard.steps)))  //
      ("rounds", "Measurements of each time",
       cxxopts::value<std::string>()->default_value(std::to_string(standard.rounds)))  //
      ("json", "Print a JSON object")                                                  //
      ("help", "Print this help");
  return options;
}

ScaleArguments scale_arguments_from(const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  ScaleArguments arguments;
  ScaleOptions& scale = arguments.scale;
  scale.model = model_work_named(given["model"].as<std::string>()).name;
  scale.scaling = scaling_named(given["scaling"].as<std::string>());
  scale.batch_size = count_from(given, "batch-size", default_batch_size(scale.scaling));
  scale.images_per_second = rate_from(given, "images-per-second");
  scale.megabits = rate_from(given, "rate");
  scale.steps = count_from(given, "steps", scale.steps);
  scale.rounds = count_from(given, "rounds", scale.rounds);
  arguments.json = given.count("json") != 0;
  return arguments;
}

}  // namespace rota::bench
