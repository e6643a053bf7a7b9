// rota-preflight: one rank on each host of a job that is only looked at. rotarun --preflight starts
// it in place of the job's program, and ends with the verdict that it exits with.
#include <chrono>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "launcher/command/exit_codes.h"
#include "launcher/job/preflight_job.h"
#include "launcher/preflight/judgement.h"
#include "launcher/preflight/report.h"
#include "launcher/preflight/ring.h"
#include "os/host.h"

namespace rota::preflight {
namespace {

// Their launchers have met, so the ranks have only to reach each other.
constexpr std::chrono::seconds kJoinTime{10};

launcher::Options read_options(const launcher::PreflightOrders& orders) {
  launcher::Options options = launcher::parse_options(orders.arguments, os::environment());
  const std::size_t count = std::min(options.groups.size(), orders.directories.size());
  for (std::size_t i = 0; i < count; ++i) {
    options.groups[i].working_directory = orders.directories[i];
  }
  return options;
}

// Complete on rank 0.
Inspection inspect(Communicator& comm, const launcher::Options& options,
                   const launcher::PreflightOrders& orders) {
  Inspection inspection{.options = options, .world_size = orders.world_size};
  const std::vector<std::string> facts = texts_of_all(comm, encode(gather(options, orders)));
  const std::vector<double> ahead = compare_clocks(comm);
  inspection.edges = measure_edges(comm);
  const std::vector<RankRow>& rows = comm.rank_table().rows;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    inspection.hosts.push_back({.name = rows[rank].host,
                                .address = rows[rank].address,
                                .facts = decode_facts(facts[rank]).value(),
                                .clock_ahead = ahead[rank]});
  }
  return inspection;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// What rank 0 prints, and tells the others: the verdict's code, and why.
std::string conclude(const Inspection& inspection) {
  const Judgement judgement = judge(inspection);
  print(inspection.options.json ? to_json(inspection, judgement) : to_text(inspection, judgement));
  return std::to_string(static_cast<int>(judgement.verdict)) + " " + judgement.reason;
}

// Nobody ends before all have said what they have to say: an end other than with 0 is the job's.
void part(Communicator& comm) {
  try {
    comm.barrier();
  } catch (const Error&) {  // The first one out has gone by now.
  }
}

int run(const launcher::PreflightOrders& orders) {
  const launcher::Options options = read_options(orders);
  CommunicatorOptions settings = CommunicatorOptions::from_environment();
  settings.join_timeout = kJoinTime;
  settings.tuned_file.clear();  // It is for the job's ranks.
  Communicator comm(settings);
  const Inspection inspection = inspect(comm, options, orders);
  const std::string said = hand_out(comm, comm.rank() == 0 ? conclude(inspection) : "");
  const std::size_t space = said.find(' ');
  const auto verdict = static_cast<Verdict>(std::stoi(said.substr(0, space)));
  const std::string reason = said.substr(space + 1);
  if (comm.rank() > 0 && orders.speaks) {
    print(options.json ? launcher::to_json(verdict, reason) : launcher::to_line(verdict, reason));
  }
  part(comm);
  return static_cast<int>(verdict);
}

// That hosts do not reach each other is for rotarun to say: it knows who was first.
int code_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kTimeout:
    case ErrorCode::kPeerLost:
    case ErrorCode::kAborted:
    case ErrorCode::kSystem:
      return launcher::kExitIncomplete;
    default:
      return launcher::kExitFailed;
  }
}

}  // namespace
}  // namespace rota::preflight

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto orders = rota::launcher::decode_preflight_orders(arguments);
  if (!orders) {
    std::fputs("rota-preflight is started by rotarun --preflight\n", stderr);
    return rota::launcher::kExitUsage;
  }
  try {
    return rota::preflight::run(*orders);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "rota-preflight: %s\n", error.what());
    return rota::preflight::code_of(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rota-preflight: %s\n", error.what());
    return rota::launcher::kExitFailed;
  }
}
