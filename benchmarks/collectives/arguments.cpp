// Parses command lines into a Method.
#include "collectives/arguments.h"

#include <stdexcept>

#include "collectives/names.h"
#include "collectives/sizes.h"
#include "option_numbers.h"

namespace rota::bench {
namespace {

// The word that selects both values of an option that has two values.
constexpr const char* kBoth = "both";

template <class Values>
std::string list_of(const Values& all) {
  std::string list;
  for (const auto value : all) list += (list.empty() ? "" : ", ") + std::string(to_string(value));
  return list;
}

// Sets `values` to the list that the option gives. Leaves `values` unchanged if the option is not
// given.
template <class T, class Values>
void take_list(const cxxopts::ParseResult& given, const std::string& option, const Values& all,
               std::vector<T>& values) {
  if (given.count(option) == 0) return;
  values.clear();
  for (const std::string& name : given[option].as<std::vector<std::string>>()) {
    if (name == kBoth && all.size() == 2) {
      values.assign(all.begin(), all.end());
      continue;
    }
    const auto value = value_named(all, name);
    if (!value) {
      throw std::invalid_argument("--" + option + ": there is no \"" + name + "\"; there are " +
                                  list_of(all));
    }
    values.push_back(*value);
  }
}

// Sets `count` to the number that the option gives. Leaves `count` unchanged if the option is not
// given.
void take_count(const cxxopts::ParseResult& given, const std::string& option,
                std::optional<std::size_t>& count) {
  if (given.count(option) != 0) count = count_of_option(given, option);
}

}  // namespace

std::vector<Collective> collectives_named(const std::string& text) {
  std::vector<Collective> collectives;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto collective = collective_named(text.substr(begin, end - begin));
    if (!collective) return {};
    collectives.push_back(*collective);
    begin = end + 1;
  }
  return collectives;
}

cxxopts::Options measurement_options(const std::string& program) {
  const auto list = [] { return cxxopts::value<std::vector<std::string>>(); };
  cxxopts::Options options(
      program + " COLLECTIVE[,COLLECTIVE...]",
      "Times collectives: " + list_of(all_collectives()) +
          ".\n\nTimes are in microseconds per call, of the slowest rank: the median, and with "
          "--json also the\nsmallest and the 99th percentile. Bandwidths are those of nccl-tests: "
          "gigabytes of values per\nsecond (algbw), and algbw times the bytes that the busiest "
          "link carries for each byte (busbw).\nAfter the last timed call of each row, one more "
          "call is made, and every element of its result is\nchecked: if one is wrong, the exit "
          "code is 1.");
  options.add_options()                                                                           //
      ("sizes", "Sizes in bytes, such as 4,64K,16M or 4:256M:x4", cxxopts::value<std::string>())  //
      ("types", list_of(kDataTypes), list())                                                      //
      ("ops", list_of(kReduceOps), list())                                                        //
      ("placement", "out-of-place, in-place or both (the default)", list())                       //
      ("memory", "shared, which the library allocates (the default), any, or both", list())       //
      ("state",
       "warm (the default); fresh: each rank writes its values before the call and reads "
       "the results within the measured time; or both",
       list())  //
      ("calls", "isolated, back-to-back (of up to 64 KiB, warm), or both (the default)", list())(
          "iterations", "Isolated calls per row (default: 7 to 500, depending on the size)",
          cxxopts::value<std::string>())  //
      ("back-to-back",
       "Back-to-back calls per sample (default: 256 to 1,000, depending on the size)",
       cxxopts::value<std::string>())                                           //
      ("check", "Check every element, and fail if one is wrong (the default)")  //
      ("no-check", "Do not check elements, which takes less time per row")      //
      ("json", "Print one JSON object per row")                                 //
      ("plot", "Draw the time for each size into this file, as SVG",
       cxxopts::value<std::string>())  //
      ("since",
       "Measure something else: the time from this moment to the end of the first all-reduce, in "
       "milliseconds. Give the moment in seconds since 1970",
       cxxopts::value<std::string>())("help", "Print this help");
  return options;
}

Arguments arguments_from(const std::string& collectives, const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  Arguments arguments;
  Method& method = arguments.method;
  method.collectives = collectives_named(collectives);
  if (method.collectives.empty()) {
    throw std::invalid_argument("'" + collectives + "' is not a collective; there are " +
                                list_of(all_collectives()));
  }
  if (given.count("sizes") != 0) method.sizes = parse_sizes(given["sizes"].as<std::string>());
  take_list(given, "types", kDataTypes, method.types);
  take_list(given, "ops", kReduceOps, method.ops);
  take_list(given, "codecs", kCodecs, method.codecs);
  if (given.count("plans") != 0) method.plans = given["plans"].as<std::vector<std::string>>();
  take_list(given, "placement", kPlacements, method.placements);
  take_list(given, "memory", kMemories, method.memories);
  take_list(given, "state", kStates, method.states);
  take_list(given, "calls", kCalls, method.calls);
  take_count(given, "iterations", method.iterations);
  take_count(given, "back-to-back", method.back_to_back);
  method.checks = given.count("no-check") == 0;
  if (given.count("check") != 0 && !method.checks) {
    throw std::invalid_argument("give only one of --check and --no-check");
  }
  arguments.json = given.count("json") != 0;
  if (given.count("since") != 0) arguments.since = positive_number_of(given, "since");
  if (given.count("plot") != 0) arguments.plot = given["plot"].as<std::string>();
  return arguments;
}

}  // namespace rota::bench
