// By --preflight rotarun runs rota-preflight, one rank of it on each host, in place of the program;
// and ends with one of four codes, whatever came of it.
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

// "fine", "degraded", "unusable", "could not tell"
std::string_view to_string(Verdict verdict) noexcept;

// Of a job's exit code: whether rota-preflight gave it, and nobody else.
bool is_verdict(int exit_code) noexcept;

// What a job that ended with this code would have come to. Where hosts did not come together, or
// one cannot do its part, the next try would end so too.
Verdict verdict_of(int exit_code) noexcept;

// What rotarun tells rota-preflight by its arguments.
struct PreflightOrders {
  std::optional<std::size_t> world_size{};  // Where somebody declares it beside --np.
  std::size_t slot_count = 1;               // Of this host.
  bool speaks = true;  // Though it is not rank 0: for whoever started this host by itself.
  std::vector<std::string> directories{};  // Where the program of each group runs; empty: here.
  std::vector<std::string> arguments{};  // Of rotarun, without the values of -x: all can see them.
};
std::vector<std::string> encode(const PreflightOrders& orders);
std::optional<PreflightOrders> decode_preflight_orders(std::span<const std::string> arguments);

// The job that runs in place of the one that `options` describe.
Options preflight_job(const Options& options, PreflightOrders orders);

// The code that rotarun ends with. Where no rank has said the verdict, prints it, and why.
int conclude_preflight(const Options& options, int exit_code);

// As it is printed where there is nothing else to print.
std::string to_line(Verdict verdict, const std::string& reason);
std::string to_json(Verdict verdict, const std::string& reason);

}  // namespace rota::launcher
