// rotarun starts a program as the ranks of a job, watches the ranks, and ends all processes that it
// started. Every failure becomes an exit code.
#include <exception>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <rota/error.h>
#include <rota/rank_table.h>

#include "launcher/command/companions.h"
#include "launcher/command/exit_codes.h"
#include "launcher/command/options.h"
#include "launcher/job/job_run.h"
#include "launcher/job/preflight_job.h"
#include "launcher/job/several_hosts.h"
#include "launcher/job/start.h"
#include "launcher/job/termination_message.h"
#include "launcher/mpi/mpi_plan.h"
#include "launcher/plan/devices.h"
#include "launcher/plan/job_plan.h"
#include "launcher/plan/job_scope.h"
#include "launcher/plan/machine_cores.h"
#include "launcher/plan/nested_launch.h"
#include "launcher/plan/show_ranks.h"
#include "launcher/plan/table_json.h"
#include "launcher/ranks/program_check.h"
#include "launcher/ranks/rank_environment.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/output.h"
#include "os/pipe.h"
#include "os/signals.h"
#include "os/system_error.h"

namespace rota::launcher {
namespace {

int print(const std::string& text) { return os::print(os::kStdout, text) ? 0 : kExitFailed; }

JobPlan plan_job(const Options& options, const Facts& facts) {
  return make_plan(options, facts, [&] { return read_topology(facts.allowed_cpus); });
}

// Returns which MPI each program has, and why; empty if the command line has no program.
std::string explain_mpi(const Options& options, std::size_t ranks_here, std::size_t world_size) {
  if (options.groups.front().program.empty()) return {};
  const std::vector<std::string> environment = os::environment();
  const ProgramCheck check =
      check_program(options, environment, mpi_view_of(ranks_here, world_size, environment));
  std::string text;
  for (const std::string& why : check.why_mpi) text += "MPI: " + why + "\n";
  return check.exit_code == 0 ? text : text + "the job cannot start: " + check.complaint + "\n";
}

int explain(const Options& options, Facts facts, const cluster::Given& given) {
  const std::size_t slot_count = slots_of(options, facts).count;
  const Explanation explanation = explain_scope(options, given, slot_count);
  std::string rest;
  if (explanation.is_alone) {
    facts.declared = decide_scope(options, given).declared;
    const RankTable table = plan_job(options, facts).job.table;
    rest = to_text(table) + explain_mpi(options, table.rows.size(), table.rows.size());
  } else if (const auto& hosts = explanation.hosts) {
    rest = explain_mpi(options, is_nested_launch(*hosts) ? 1 : 0, hosts->world_size.value_or(2));
  }
  const int code = print(explanation.text + rest);
  return code == 0 && !explanation.is_decided ? kExitSpecification : code;
}

ShownTable table_of_this_host(const Options& options, const Facts& facts,
                              const std::vector<std::string>& environment) {
  const JobPlan plan = plan_job(options, facts);
  for (const std::string& warning : plan.warnings) complain("warning: " + warning);
  ShownTable shown{.table = plan.job.table};
  DevicesOfRanks devices = devices_of_ranks(options, environment, plan.assignment);
  for (std::string& of_rank : devices.visible) shown.devices.emplace_back(std::move(of_rank));
  return shown;
}

int show_ranks(const Options& options, Facts facts, const cluster::Given& given) {
  const std::vector<std::string> environment = os::environment();
  auto shown = table_of_several_hosts(options, given, slots_of(options, facts).count, environment);
  if (!shown) {
    facts.declared = decide_scope(options, given).declared;
    shown = table_of_this_host(options, facts, environment);
  }
  if (!shown->note.empty()) complain("note: " + shown->note);
  return print(options.json ? to_json(shown->table, shown->devices, shown->note)
                            : to_text(shown->table));
}

// Closes the descriptor of the key in every process that rotarun starts. The descriptor is for
// rotarun and for the companion that rotarun becomes.
void keep_key_private(const Options& options) {
  if (!options.key_fd) return;
  try {
    os::close_on_exec(*options.key_fd);
  } catch (const Error& error) {
    throw KeyError("--key-fd " + std::to_string(*options.key_fd) + ": " + error.what());
  }
}

Options preflight_here(const Options& options, const std::vector<std::string>& arguments,
                       const Facts& facts) {
  const std::size_t found_count = slots_of(options, facts).count;
  return preflight_job(options, {.slot_count = facts.declared.count.value_or(found_count),
                                 .most_slots = facts.declared.most,
                                 .arguments = arguments});
}

int launch_here(const Options& options, const Facts& facts,
                const std::vector<std::string>& environment) {
  const JobPlan plan = plan_job(options, facts);
  for (const std::string& warning : plan.warnings) complain("warning: " + warning);
  const HostAssignment& assignment = plan.assignment;
  const Found found =
      find_program(options, environment,
                   mpi_view_of(assignment.ranks.size(), assignment.world_size, environment));
  if (found.obstacle) return found.obstacle->value;
  os::SignalWatch signals = watch_signals(options);
  return start(environment, found, signals, [&](RunContext& context) {
    Prepared prepared = prepare_here(options, plan, environment);
    prepared.mpi =
        plan_mpi(found.mpi, std::span(&assignment, 1), plan.job.table, context.mpi_name());
    JobRun job(options, plan, std::move(prepared), context, signals);
    return job.run();
  });
}

int launch(const Options& options, const std::vector<std::string>& arguments) {
  if (options.follow) return launch_followed(arguments);
  keep_key_private(options);
  Facts facts = gather_facts();
  const std::vector<std::string> environment = os::environment();
  const cluster::Given given = gather_given(options, environment, facts.host);
  if (options.explain) return explain(options, facts, given);
  if (options.show_ranks) return show_ranks(options, facts, given);
  const JobScope scope = decide_scope(options, given);
  if (scope.hosts) return launch_across(options, arguments, facts, *scope.hosts);
  discard_key(options);  // A job on one host needs no key.
  facts.declared = scope.declared;
  return launch_here(options.preflight ? preflight_here(options, arguments, facts) : options, facts,
                     environment);
}

// Returns the exit code of `act`. An exception becomes an exit code, too.
int end_of(const std::function<int()>& act) {
  try {
    return act();
  } catch (const UsageError& error) {
    complain(std::string(error.what()) + "\nrotarun: try rotarun --help");
    return kExitUsage;
  } catch (const SpecificationError& error) {
    complain(std::string(error.what()) + "\nrotarun: try rotarun --explain");
    return kExitSpecification;
  } catch (const KeyError& error) {
    complain(error.what());
    return kExitKey;
  } catch (const std::bad_alloc&) {
    complain("rotarun has no memory" + os::advice_on_memory());
    return kExitCannotRun;
  } catch (const std::exception& error) {
    complain(error.what());
    return kExitCannotRun;
  }
}

int run(const std::vector<std::string>& arguments) {
  const int code = end_of([&] {
    os::fill_standard_descriptors();
    if (is_render(arguments)) become_render(arguments);
    const Options options = parse_options(arguments, os::environment());
    if (options.help) return print(help_text());
    if (options.version) return print("rotarun " ROTA_VERSION "\n");
    const int job_code = end_of([&] { return launch(options, arguments); });
    return options.preflight ? conclude_preflight(options, job_code) : job_code;
  });
  leave_termination_message(os::environment(), code);
  return code;
}

}  // namespace
}  // namespace rota::launcher

int main(int argc, char** argv) {
  return rota::launcher::run(std::vector<std::string>(argv + 1, argv + argc));
}
