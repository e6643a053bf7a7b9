// Parses the command line into a world and the options of a step.
#include "predict/arguments.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/transports.h"
#include "collectives/sizes.h"
#include "option_numbers.h"
#include "predict/calibration.h"
#include "predict/lines.h"

namespace rota::bench {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

std::string names_of(std::initializer_list<Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

// Parses a number with one of the units at its end. The first unit that fits is taken. A number
// without a unit must have an exponent: in others, a unit may have been forgotten. With its unit,
// the number must not overflow, nor become 0.
double with_unit(const std::string& option, std::string_view text,
                 std::initializer_list<Unit> units) {
  double factor = 1;
  bool has_unit = text.find_first_of("eE") != std::string_view::npos;
  std::string_view digits = text;
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    digits.remove_suffix(unit.name.size());
    factor = unit.factor;
    has_unit = true;
    break;
  }
  const std::string what = "the " + option;
  const double number = positive_in("--" + option, what, digits) * factor;
  if (!has_unit) {
    throw std::invalid_argument("--" + option + ": " + what + " " + std::string(text) +
                                " has no unit; there are " + names_of(units));
  }
  if (std::isnormal(number)) return number;
  throw std::invalid_argument("--" + option + ": " + what + " " + std::string(text) +
                              " is too large or too small for a prediction");
}

std::vector<std::size_t> counts_in(const std::string& option, const std::string& text) {
  std::vector<std::size_t> counts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    counts.push_back(whole_number_in(option, std::string_view(text).substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return counts;
}

std::size_t bytes_in(const cxxopts::ParseResult& given, const std::string& option) {
  const std::vector<std::size_t> sizes = parse_sizes(given[option].as<std::string>(), option);
  if (sizes.size() == 1 && sizes.front() > 0) return sizes.front();
  throw std::invalid_argument("--" + option + " is one size, of at least one byte");
}

Codec codec_from(const std::string& name) {
  if (const auto codec = codec_named(name)) return *codec;
  throw std::invalid_argument("--codec '" + name + "' is not known");
}

std::optional<collectives::Algorithm> plan_from(const std::string& name) {
  if (name == "auto") return std::nullopt;
  if (const auto plan = collectives::algorithm_named(name)) return plan;
  throw std::invalid_argument("--plan '" + name + "' is not known");
}

Fold fold_from(const std::string& name) {
  constexpr std::pair<std::string_view, Fold> kFolds[] = {
      {"auto", Fold::kIfAlike}, {"never", Fold::kNever}, {"always", Fold::kAlways}};
  for (const auto& [known, fold] : kFolds) {
    if (name == known) return fold;
  }
  throw std::invalid_argument("--fold '" + name +
                              "' is not known; there are auto, never and "
                              "always");
}

// Returns the name of a transport, as in a calibration.
std::string transport_from(const std::string& name) {
  const std::string_view encrypted = " encrypted";
  std::string_view plain = name;
  if (plain.ends_with(encrypted)) plain.remove_suffix(encrypted.size());
  if (base::find_transport(plain)) return name;
  std::string all;
  for (const base::TransportRow& row : base::kTransports) all += std::string(row.name) + ", ";
  throw std::invalid_argument("--transport '" + name + "' is not known; there are " + all +
                              "and the same with the word encrypted, as in 'tcp encrypted'");
}

// Returns the efficiency that all hosts must be worth, as a share; 0 if it was not given.
double least_efficiency_from(const cxxopts::ParseResult& given) {
  constexpr double kPercent = 100;
  if (given.count("worth") == 0) return 0;
  for (const char* other : {"hosts", "sizes"}) {
    if (given.count(other) == 0) continue;
    throw std::invalid_argument("--worth finds the number of hosts for training steps, so --" +
                                std::string(other) + " has no meaning beside it");
  }
  const double percent = positive_in("--worth", "the efficiency", given["worth"].as<std::string>());
  if (percent <= kPercent) return percent / kPercent;
  throw std::invalid_argument("--worth: an efficiency of more than 100 % is not possible");
}

// Shared memory joins the ranks of one host.
void require_reach(const PredictArguments& arguments) {
  if (arguments.transport != "shm" && arguments.transport != "shm encrypted") return;
  const bool has_one_host = arguments.host_counts == std::vector<std::size_t>{1};
  if (has_one_host || arguments.prints_workload) return;
  throw std::invalid_argument("--transport " + arguments.transport +
                              " joins the ranks of one host: name shm+tcp for "
                              "several hosts" +
                              (arguments.least_efficiency > 0 ? "" : ", or --hosts 1"));
}

// Throws std::invalid_argument if single all-reduces are wanted, and an option is for steps alone.
void require_sizes_or_steps(const cxxopts::ParseResult& given) {
  if (given.count("sizes") == 0) return;
  for (const char* other : {"workload", "print-workload", "first-bucket", "bucket", "cores",
                            "jitter", "seed", "steps"}) {
    if (given.count(other) == 0) continue;
    throw std::invalid_argument("--sizes predicts all-reduces instead of training steps, so --" +
                                std::string(other) + " has no meaning beside it");
  }
}

// Returns whether the cost of the predictions is wanted.
bool shows_cost_in(const cxxopts::ParseResult& given) {
  if (given.count("cost") == 0) return false;
  if (given.count("print-workload") == 0) return true;
  throw std::invalid_argument(
      "--cost has no meaning beside --print-workload, which predicts nothing");
}

StepOptions step_from(const cxxopts::ParseResult& given) {
  return {.plan = plan_from(given["plan"].as<std::string>()),
          .codec = codec_from(given["codec"].as<std::string>()),
          .buckets = {.first_bucket_bytes = bytes_in(given, "first-bucket"),
                      .bucket_bytes = given.count("bucket") == 0
                                          ? std::nullopt
                                          : std::optional(bytes_in(given, "bucket"))},
          .cores = whole_number_of(given, "cores"),
          .jitter = at_least_zero_in("--jitter", "the jitter", given["jitter"].as<std::string>()),
          .seed = whole_number_of(given, "seed"),
          .steps = whole_number_of(given, "steps"),
          .fold = fold_from(given["fold"].as<std::string>())};
}

}  // namespace

cxxopts::Options predict_options() {
  const auto text = [](const char* by_default) {
    return cxxopts::value<std::string>()->default_value(by_default);
  };
  const auto bare = cxxopts::value<std::string>();
  cxxopts::Options options("rota-bench predict",
                           "Predicts the time of training steps in worlds that need not exist.");
  options.add_options()                                                                     //
      ("workload", "mlp, lenet, inception-v3, resnet-101, vgg-16; or a file", text("mlp"))  //
      ("print-workload", "Print the workload as a file, and predict nothing")               //
      ("sizes", "All-reduces of these sizes, instead of steps", bare)                       //
      ("hosts", "Numbers of hosts, such as 1,8,64", text("2"))                              //
      ("worth", "Find the most hosts with this efficiency, in percent", bare)               //
      ("ranks-per-host", "Ranks of each host", text("1"))                                   //
      ("hosts-per-switch", "Hosts of each switch of a tree; 0: one switch", text("0"))      //
      ("oversubscription", "Rate of the hosts of a switch / of its uplink", text("1"))      //
      ("rate", "Rate of the cable of a host, in bits a second, such as 25G", bare)          //
      ("latency", "Latency between hosts, such as 30us", bare)                              //
      ("burst", "Bytes that a shaper lets pass at once", bare)                              //
      ("transport", "The transport of the job (default: the one of rotarun)", bare)         //
      ("calibration", "File of rota-bench tune --calibration", bare)                        //
      ("machine", "The machine of the calibration (default: this one)", bare)               //
      ("plan", "Plan of the all-reduces, or auto", text("auto"))                            //
      ("codec", "Codec of the buckets", text("identity"))                                   //
      ("first-bucket", "Bytes of the first bucket", text("64K"))                            //
      ("bucket", "Bytes of other buckets (default: 4M, or 32K for each rank if that is more)",
       cxxopts::value<std::string>())                                                //
      ("cores", "Cores of a host; 0: enough", text("0"))                             //
      ("jitter", "Mean fraction by which computation takes longer", text("0"))       //
      ("seed", "Seed of the jitter", text("1"))                                      //
      ("steps", "Steps with jitter", text("20"))                                     //
      ("fold", "Simulate a few ranks for all: auto, never or always", text("auto"))  //
      ("cost", "Print the seconds and the memory of this command, too")              //
      ("json", "Print JSON objects, one per line")                                   //
      ("help", "Print this help");
  return options;
}

PredictArguments predict_arguments_from(const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  require_sizes_or_steps(given);
  const auto text = [&](const char* option) { return given[option].as<std::string>(); };
  const auto text_if_given = [&](const char* option) {
    return given.count(option) == 0 ? std::string() : text(option);
  };
  PredictArguments arguments{
      .workload = text("workload"),
      .host_counts = counts_in("hosts", text("hosts")),
      .shape = {.ranks_per_host = whole_number_of(given, "ranks-per-host"),
                .hosts_per_switch = whole_number_of(given, "hosts-per-switch"),
                .oversubscription = number_in("--oversubscription", "the oversubscription",
                                              text("oversubscription"))},
      .calibration = text_if_given("calibration"),
      .machine = text_if_given("machine"),
      .step = step_from(given),
      .least_efficiency = least_efficiency_from(given),
      .prints_workload = given.count("print-workload") != 0,
      .shows_cost = shows_cost_in(given),
      .json = given.count("json") != 0};
  if (arguments.least_efficiency > 0) arguments.host_counts.clear();
  if (given.count("sizes") != 0) arguments.sizes = parse_sizes(text("sizes"));
  if (given.count("rate") != 0) arguments.seconds_per_byte = seconds_per_byte_at(text("rate"));
  if (given.count("latency") != 0) arguments.latency_seconds = seconds_in(text("latency"));
  if (given.count("burst") != 0) {
    arguments.burst_bytes = static_cast<double>(bytes_in(given, "burst"));
  }
  if (arguments.machine.empty()) arguments.machine = this_machine();
  arguments.chooses_transport = given.count("transport") == 0;
  if (!arguments.chooses_transport) arguments.transport = transport_from(text("transport"));
  if (arguments.chooses_transport) arguments.transport = default_transport(arguments);
  require_reach(arguments);
  return arguments;
}

std::string default_transport(const PredictArguments& arguments) {
  if (arguments.shape.ranks_per_host == 1) return "tcp";
  const bool has_one_host = arguments.host_counts == std::vector<std::size_t>{1};
  return has_one_host ? "shm" : "shm+tcp";
}

std::string transport_of(const PredictArguments& arguments, const WorldShape& shape) {
  const bool is_shared = shape.host_count == 1 && shape.ranks_per_host > 1;
  return arguments.chooses_transport && is_shared ? "shm" : arguments.transport;
}

double seconds_per_byte_at(const std::string& rate) {
  constexpr double kBits = 8;
  return kBits / with_unit("rate", rate, {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}});
}

double seconds_in(const std::string& latency) {
  return with_unit("latency", latency, {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
}

}  // namespace rota::bench
