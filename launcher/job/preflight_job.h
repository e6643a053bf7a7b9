// --preflight: rotarun runs rota-preflight in place of the program, with one rank on each host.
// rotarun then always ends with one of four codes.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/command/options.h"

namespace rota::launcher {

enum class Verdict { kFine = 0, kDegraded = 10, kUnusable = 20, kUnknown = 30 };

// Returns "fine", "degraded", "unusable" or "could not tell".
std::string_view to_string(Verdict verdict) noexcept;

// Returns whether this exit code of a preflight is a verdict of rota-preflight, and not a code of
// rotarun.
bool is_verdict(int exit_code) noexcept;

// Returns the verdict for a job that ended with this code. If the hosts did not come together, or a
// host cannot do its part, the verdict is kUnusable: the next try would end in the same way.
Verdict verdict_of(int exit_code) noexcept;

// The facts that rotarun passes to rota-preflight as arguments.
struct PreflightRequest {
  std::optional<std::size_t> world_size{};  // As a source other than --np declares it, if any.
  std::size_t slot_count = 1;               // Slots of this host.
  std::optional<std::size_t> most_slots{};  // Its max_slots in a host list.
  // True if this host was started separately. Then its rank prints the report, even if it is not
  // rank 0.
  bool speaks = true;
  // By group: the folder where its program runs; empty: the current folder.
  std::vector<std::string> directories{};
  // The arguments of rotarun, without the values of -x: every user of the machine can see
  // arguments.
  std::vector<std::string> arguments{};
};
std::vector<std::string> encode(const PreflightRequest& request);
std::optional<PreflightRequest> decode_preflight_request(std::span<const std::string> arguments);

// Returns the job that runs in place of the job of `options`.
Options preflight_job(const Options& options, PreflightRequest request);

// Returns the code that rotarun ends with. If no rank has printed the verdict, prints it with the
// reason.
int conclude_preflight(const Options& options, int exit_code);

// Return the verdict as it is printed if there is nothing else to print.
std::string to_line(Verdict verdict, const std::string& reason);
std::string to_json(Verdict verdict, const std::string& reason);

}  // namespace rota::launcher
