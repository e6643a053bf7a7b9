// rota-preflight runs as one rank on each host, which inspects the host and measures the ring. The
// command rotarun --preflight starts rota-preflight instead of the job's program, and exits with
// its verdict.
#include <chrono>
#include <csignal>
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
#include "launcher/preflight/preflight_report.h"
#include "launcher/preflight/ring_measurement.h"
#include "os/host.h"

namespace rota::preflight {
namespace {

// The launchers have met already, so the ranks only have to reach each other.
constexpr std::chrono::seconds kJoinTime{10};

launcher::Options read_options(const launcher::PreflightRequest& request) {
  launcher::Options options = launcher::parse_options(request.arguments, os::environment());
  const std::size_t count = std::min(options.groups.size(), request.directories.size());
  for (std::size_t i = 0; i < count; ++i) {
    options.groups[i].working_directory = request.directories[i];
  }
  return options;
}

// Inspects all hosts. The call is collective, and the result is complete on rank 0 only.
Inspection inspect(Communicator& comm, const launcher::Options& options,
                   const launcher::PreflightRequest& request) {
  Inspection inspection{.options = options, .world_size = request.world_size};
  const std::vector<std::string> facts = texts_of_all(comm, encode(gather(options, request)));
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

// Prints the report on rank 0. Returns what the other ranks need: the code of the verdict, and why.
std::string conclude(const Inspection& inspection) {
  const Judgement judgement = judge(inspection);
  print(inspection.options.json ? to_json(inspection, judgement) : to_text(inspection, judgement));
  return std::to_string(static_cast<int>(judgement.verdict)) + " " + judgement.reason;
}

// Waits until all ranks have printed: an exit code other than 0 ends the job, so no rank may end
// earlier.
void part(Communicator& comm) {
  try {
    comm.barrier();
  } catch (const Error&) {  // A rank that passed the barrier earlier has ended by now.
  }
}

int run(const launcher::PreflightRequest& request) {
  const launcher::Options options = read_options(request);
  CommunicatorOptions settings = CommunicatorOptions::from_environment();
  settings.join_timeout = kJoinTime;
  settings.tuned_file.clear();  // The file is for the job's ranks.
  Communicator comm(settings);
  const Inspection inspection = inspect(comm, options, request);
  const std::string said = hand_out(comm, comm.rank() == 0 ? conclude(inspection) : "");
  const std::size_t space = said.find(' ');
  const auto verdict = static_cast<Verdict>(std::stoi(said.substr(0, space)));
  const std::string reason = said.substr(space + 1);
  if (comm.rank() > 0 && request.speaks) {
    print(options.json ? launcher::to_json(verdict, reason) : launcher::to_line(verdict, reason));
  }
  part(comm);
  return static_cast<int>(verdict);
}

// Returns the exit code for an error. If hosts do not reach each other, rotarun reports that: it
// knows which host failed first.
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
  const auto request = rota::launcher::decode_preflight_request(arguments);
  if (!request) {
    std::fputs("only rotarun --preflight starts rota-preflight\n", stderr);
    return rota::launcher::kExitUsage;
  }
  // rotarun passes these signals on. They are meant for the job's own ranks.
  for (const int signal : {SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
  try {
    return rota::preflight::run(*request);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "rota-preflight: %s\n", error.what());
    return rota::preflight::code_of(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rota-preflight: %s\n", error.what());
    return rota::launcher::kExitFailed;
  }
}
