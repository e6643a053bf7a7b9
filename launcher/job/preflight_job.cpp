// Makes the job of --preflight, and turns the exit code of that job into a verdict.
#include "launcher/job/preflight_job.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "launcher/command/companions.h"
#include "launcher/command/exit_codes.h"
#include "launcher/job/end_report.h"
#include "os/output.h"

namespace rota::launcher {
namespace {

constexpr const char* kInspector = "rota-preflight";
constexpr std::string_view kSpeaks = "speaks";
constexpr std::string_view kIsQuiet = "quiet";
constexpr std::size_t kOwnArguments = 5;

// The exit codes that mean that the job itself would not run.
constexpr std::array kRefusals = {kExitUsage,     kExitKey,      kExitSpecification,
                                  kExitCannotRun, kExitNotFound, kExitIncomplete,
                                  kExitSilent,    kExitSlotHeld};

std::optional<std::size_t> to_number(const std::string& text) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read_to != end) return std::nullopt;
  return number;
}

// A flag may follow one hyphen or two.
constexpr std::array<std::string_view, 4> kOfVariables = {"-x", "--x", "-export", "--export"};

// Returns where NAME=VALUE begins in -xNAME=VALUE or --export=NAME=VALUE; nothing if the argument
// has neither form.
std::optional<std::size_t> begin_of_variable(std::string_view argument) {
  for (const std::string_view flag : kOfVariables) {
    if (argument.starts_with(flag) && argument.substr(flag.size()).starts_with('=')) {
      return flag.size() + 1;
    }
  }
  const std::string_view short_flag = kOfVariables.front();
  if (!argument.starts_with(short_flag) || argument == short_flag) return std::nullopt;
  return short_flag.size();
}

// Removes the values of -x. The names are enough to find what is missing, and the values may be
// secret.
std::vector<std::string> without_values(std::vector<std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_separate =
        i > 0 && std::ranges::find(kOfVariables, arguments[i - 1]) != kOfVariables.end();
    const auto begin = is_separate ? 0 : begin_of_variable(arguments[i]);
    if (!begin) continue;
    arguments[i].resize(std::min(arguments[i].find('=', *begin), arguments[i].size()));
  }
  return arguments;
}

}  // namespace

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kFine:
      return "fine";
    case Verdict::kDegraded:
      return "degraded";
    case Verdict::kUnusable:
      return "unusable";
    case Verdict::kUnknown:
      break;
  }
  return "could not tell";
}

bool is_verdict(int exit_code) noexcept {
  return exit_code == 0 || exit_code == static_cast<int>(Verdict::kDegraded) ||
         exit_code == static_cast<int>(Verdict::kUnusable) ||
         exit_code == static_cast<int>(Verdict::kUnknown);
}

Verdict verdict_of(int exit_code) noexcept {
  if (is_verdict(exit_code)) return static_cast<Verdict>(exit_code);
  const bool is_refusal = std::ranges::find(kRefusals, exit_code) != kRefusals.end();
  return is_refusal ? Verdict::kUnusable : Verdict::kUnknown;
}

std::vector<std::string> encode(const PreflightRequest& request) {
  std::vector<std::string> arguments = {std::to_string(request.world_size.value_or(0)),
                                        std::to_string(request.slot_count),
                                        std::to_string(request.most_slots.value_or(0)),
                                        std::string(request.speaks ? kSpeaks : kIsQuiet)};
  arguments.push_back(std::to_string(request.directories.size()));
  arguments.insert(arguments.end(), request.directories.begin(), request.directories.end());
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  return arguments;
}

std::optional<PreflightRequest> decode_preflight_request(std::span<const std::string> arguments) {
  if (arguments.size() < kOwnArguments) return std::nullopt;
  const auto world_size = to_number(arguments[0]);
  const auto slot_count = to_number(arguments[1]);
  const auto most_slots = to_number(arguments[2]);
  const bool speaks = arguments[3] == kSpeaks;
  if (!world_size || !slot_count || !most_slots) return std::nullopt;
  if (!speaks && arguments[3] != kIsQuiet) return std::nullopt;
  PreflightRequest request{.slot_count = *slot_count, .speaks = speaks};
  if (*most_slots > 0) request.most_slots = most_slots;
  if (*world_size > 0) request.world_size = world_size;
  const auto directory_count = to_number(arguments[4]);
  auto rest = arguments.subspan(kOwnArguments);
  if (!directory_count || *directory_count > rest.size()) return std::nullopt;
  request.directories.assign(rest.begin(), rest.begin() + static_cast<long>(*directory_count));
  rest = rest.subspan(*directory_count);
  request.arguments.assign(rest.begin(), rest.end());
  return request;
}

Options preflight_job(const Options& options, PreflightRequest request) {
  Options job = options;
  Group group = first_of_ranks(options.groups);
  if (!goes_over_mpi(options)) group.mpi = MpiChoice::kNone;
  group.count.reset();
  group.working_directory.clear();
  for (const Group& each : options.groups) request.directories.push_back(each.working_directory);
  request.arguments = without_values(std::move(request.arguments));
  group.program = encode(request);
  group.program.insert(group.program.begin(), companion_path(kInspector));
  job.groups = {std::move(group)};
  job.rank_count.reset();
  job.map_by = MapBy::kFixedPerNode;
  job.ranks_per_node = 1;
  job.rank_by = RankBy::kSlot;
  job.oversubscribe = true;
  job.bind_to = BindTo::kNone;
  job.report_bindings = false;
  job.tag_output = false;
  job.output_directory.clear();
  job.timestamp_output = false;
  job.gather_output = false;
  job.when_done = WhenDone::kExit;
  job.tuned_file.clear();  // The tuned file is for the job's own ranks.
  return job;
}

int conclude_preflight(const Options& options, int exit_code) {
  if (is_verdict(exit_code)) {
    forget_reason();  // The preflight's report has the reason.
    note_reason("preflight: " + std::string(to_string(verdict_of(exit_code))) +
                ": see the report of --preflight");
    return exit_code;
  }
  const Verdict verdict = verdict_of(exit_code);
  std::string reason = noted_reason();
  if (reason.empty()) reason = "rotarun ended with code " + std::to_string(exit_code);
  const std::string text = options.json ? to_json(verdict, reason) : to_line(verdict, reason);
  os::print(os::kStdout, text);
  return static_cast<int>(verdict);
}

std::string to_line(Verdict verdict, const std::string& reason) {
  return "preflight: " + std::string(to_string(verdict)) + (reason.empty() ? "" : ": " + reason) +
         "\n";
}

std::string to_json(Verdict verdict, const std::string& reason) {
  using Json = nlohmann::ordered_json;
  const Json object = {{"verdict", to_string(verdict)},
                       {"code", static_cast<int>(verdict)},
                       {"reason", reason.empty() ? Json(nullptr) : Json(reason)},
                       {"checks", Json::array()},
                       {"hosts", Json::array()},
                       {"edges", Json::array()}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rota::launcher
