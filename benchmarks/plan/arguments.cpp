// Parses the command line into a valid Question.
#include "plan/arguments.h"

#include <rota/nearest_name.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "option_numbers.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using collectives::Collective;

constexpr std::size_t kElementsPerChunk = 16;  // Plans cut the elements at multiples of this.
constexpr std::size_t kMaxCount = std::size_t{1} << (sizeof(std::size_t) * 8 - 8);
constexpr std::size_t kRanksPerHost = 2;

// Returns all enumerators that have a name. Their values are consecutive, from 1 on.
template <class Enum>
std::vector<Enum> all() {
  std::vector<Enum> values;
  for (std::uint8_t i = 1; to_string(static_cast<Enum>(i)) != "unknown"; ++i) {
    values.push_back(static_cast<Enum>(i));
  }
  return values;
}

// Returns a text such as "a, b and c".
template <class Enum>
std::string list(const std::vector<Enum>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? " and " : ", ";
    text += to_string(values[i]);
  }
  return text;
}

template <class Enum>
Enum named(const std::string& option, const std::string& name, const std::vector<Enum>& values) {
  std::vector<std::string_view> names;
  for (const Enum value : values) {
    if (to_string(value) == name) return value;
    names.push_back(to_string(value));
  }
  const std::string nearest(nearest_name(name, names));
  throw std::invalid_argument(
      "--" + option + " '" + name + "' is not known" +
      (nearest.empty() ? "; there are " + list(values) : "; did you mean " + nearest + "?"));
}

// Returns the algorithms that can be drawn.
std::vector<Algorithm> algorithms_with_plans() {
  std::vector<Algorithm> algorithms = all<Algorithm>();
  std::erase_if(algorithms, [](Algorithm algorithm) { return !has_plans(algorithm); });
  return algorithms;
}

bool is_one_message(Collective collective) {
  return collective == Collective::kSend || collective == Collective::kReceive;
}

std::vector<Collective> made_by(Algorithm algorithm) {
  std::vector<Collective> made;
  for (const Collective collective : all<Collective>()) {
    if (!is_one_message(collective) && makes(algorithm, collective)) made.push_back(collective);
  }
  return made;
}

Collective collective_from(const cxxopts::ParseResult& given, Algorithm algorithm) {
  const std::vector<Collective> made = made_by(algorithm);
  if (given.count("collective") == 0) return made.front();  // all_reduce comes first.
  const auto collective =
      named("collective", given["collective"].as<std::string>(), all<Collective>());
  if (std::ranges::find(made, collective) != made.end()) return collective;
  if (is_one_message(collective)) {
    throw std::invalid_argument("a " + std::string(to_string(collective)) +
                                " is one message, so there is nothing to plan");
  }
  throw std::invalid_argument(std::string(to_string(algorithm)) + " is not a plan for " +
                              std::string(to_string(collective)) + ": it is for " + list(made));
}

std::size_t number_from(const cxxopts::ParseResult& given, const std::string& option,
                        std::size_t least, std::size_t most) {
  const std::size_t number = whole_number_of(given, option);
  if (number >= least && number <= most) return number;
  throw std::invalid_argument("--" + option + " " + std::to_string(number) + " is not from " +
                              std::to_string(least) + " to " + std::to_string(most));
}

std::vector<std::string> hosts_of(std::size_t ranks_per_host, std::size_t world_size) {
  std::vector<std::string> hosts;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    hosts.push_back("host" + std::to_string(rank / ranks_per_host));
  }
  return hosts;
}

void require_host_name(const std::string& name) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  if (!name.empty() && std::ranges::all_of(name, is_fine)) return;
  throw std::invalid_argument("--hosts: '" + name + "' is not a host name");
}

// Parses "a,a,b" (the host of each rank) or "2" (two ranks on each host).
std::vector<std::string> parse_hosts(const std::string& text, std::size_t world_size) {
  std::size_t ranks_per_host = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, ranks_per_host);
  if (parsed.ec == std::errc() && parsed.ptr == end && ranks_per_host > 0) {
    return hosts_of(ranks_per_host, world_size);
  }
  std::vector<std::string> hosts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    hosts.push_back(text.substr(begin, comma - begin));
    require_host_name(hosts.back());
    begin = comma + 1;
  }
  if (hosts.size() == world_size) return hosts;
  throw std::invalid_argument("--hosts names " + counted(hosts.size(), "host") + " for " +
                              counted(world_size, "rank") +
                              ": give one host for each rank, or the number of ranks per host");
}

std::vector<std::string> hosts_from(const cxxopts::ParseResult& given, const Question& question) {
  if (given.count("hosts") != 0) {
    return parse_hosts(given["hosts"].as<std::string>(), question.world_size);
  }
  if (!collectives::looks_at_hosts(question.algorithm)) return {};
  return hosts_of(kRanksPerHost, question.world_size);
}

PlanArguments::Form form_from(const cxxopts::ParseResult& given) {
  const auto format = given["format"].as<std::string>();
  if (format != "text" && format != "svg") {
    throw std::invalid_argument("--format '" + format + "' is not known; there are text and svg");
  }
  if (given.count("draw") != 0) {
    return format == "svg" ? PlanArguments::Form::kSvg : PlanArguments::Form::kText;
  }
  if (given.count("format") != 0) throw std::invalid_argument("--format needs --draw");
  return PlanArguments::Form::kTable;
}

}  // namespace

cxxopts::Options plan_options() {
  cxxopts::Options options("rota-bench plan", "Shows the plan of a collective, step by step.");
  options.add_options()  //
      ("plan", list(algorithms_with_plans()),
       cxxopts::value<std::string>()->default_value("ring"))  //
      ("collective", "The collective (default: all_reduce, or the one that the plan is for)",
       cxxopts::value<std::string>())                                              //
      ("world", "Ranks", cxxopts::value<std::string>()->default_value("4"))        //
      ("count", "Elements (default: 16 per rank)", cxxopts::value<std::string>())  //
      ("root", "The root, if the collective has one",                              //
       cxxopts::value<std::string>()->default_value("0"))                          //
      ("hosts",
       "The host of each rank, as in a,a,b,b, or the number of ranks per host (default: 2)",
       cxxopts::value<std::string>())                                                  //
      ("out-of-place", "Leave the input unchanged")                                    //
      ("draw", "Draw the messages instead of listing the steps of each rank")          //
      ("format", "text or svg", cxxopts::value<std::string>()->default_value("text"))  //
      ("output", "Write to this file", cxxopts::value<std::string>())                  //
      ("help", "Print this help");
  return options;
}

PlanArguments plan_arguments_from(const cxxopts::ParseResult& given) {
  if (!given.unmatched().empty()) {
    throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
  }
  PlanArguments arguments;
  Question& question = arguments.question;
  question.algorithm = named("plan", given["plan"].as<std::string>(), algorithms_with_plans());
  question.collective = collective_from(given, question.algorithm);
  question.world_size = number_from(given, "world", 1, kMaxDrawnWorld);
  question.count = kElementsPerChunk * question.world_size;
  if (given.count("count") != 0) question.count = number_from(given, "count", 0, kMaxCount);
  if (question.collective == Collective::kBarrier) question.count = 0;
  question.root = number_from(given, "root", 0, question.world_size - 1);
  question.hosts = hosts_from(given, question);
  question.in_place = given.count("out-of-place") == 0;
  arguments.form = form_from(given);
  if (given.count("output") != 0) arguments.output = given["output"].as<std::string>();
  return arguments;
}

}  // namespace rota::bench
