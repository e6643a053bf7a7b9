// rotarun: starts a program as the ranks of a job, watches them, and ends what it started.
#include <cstdio>
#include <exception>
#include <functional>
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
#include "launcher/plan/devices.h"
#include "launcher/plan/job_plan.h"
#include "launcher/plan/reach.h"
#include "launcher/plan/show_ranks.h"
#include "launcher/plan/table_json.h"
#include "launcher/plan/topology.h"
#include "launcher/ranks/rank_environment.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/pipe.h"
#include "os/signals.h"

namespace rota::launcher {
namespace {

int print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? kExitFailed : 0;
}

JobPlan plan_job(const Options& options, const Facts& facts) {
  return make_plan(options, facts, [&] { return read_topology(facts.allowed_cpus); });
}

int explain(const Options& options, Facts facts, const cluster::Given& given) {
  const std::size_t slot_count = slots_of(options, facts).count;
  const Explanation explanation = explain_reach(options, given, slot_count);
  std::string table;
  if (explanation.is_alone) {
    facts.declared = decide_reach(options, given).declared;
    table = to_text(plan_job(options, facts).job.table);
  }
  const int code = print(explanation.text + table);
  return code == 0 && !explanation.is_decided ? kExitSpecification : code;
}

ShownTable table_of_this_host(const Options& options, const Facts& facts,
                              const std::vector<std::string>& environment) {
  const JobPlan plan = plan_job(options, facts);
  for (const std::string& warning : plan.warnings) complain("warning: " + warning);
  ShownTable shown{.table = plan.job.table};
  DevicesOfRanks devices = devices_of_ranks(options, environment, plan.share);
  for (std::string& of_rank : devices.visible) shown.devices.emplace_back(std::move(of_rank));
  return shown;
}

int show_ranks(const Options& options, Facts facts, const cluster::Given& given) {
  const std::vector<std::string> environment = os::environment();
  auto shown = table_of_several_hosts(options, given, slots_of(options, facts).count, environment);
  if (!shown) {
    facts.declared = decide_reach(options, given).declared;
    shown = table_of_this_host(options, facts, environment);
  }
  if (!shown->note.empty()) complain("note: " + shown->note);
  return print(options.json ? to_json(shown->table, shown->devices, shown->note)
                            : to_text(shown->table));
}

// It is for rotarun alone, and for what that turns into: nothing that is started inherits it.
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
  return preflight_job(
      options, {.slot_count = facts.declared.count.value_or(found_count), .arguments = arguments});
}

int launch_here(const Options& options, const Facts& facts,
                const std::vector<std::string>& environment) {
  const JobPlan plan = plan_job(options, facts);
  for (const std::string& warning : plan.warnings) complain("warning: " + warning);
  const Share& share = plan.share;
  const Found found =
      find_program(options, environment,
                   hides_ranks_from_mpi(share.ranks.size(), share.world_size, environment));
  if (found.obstacle) return found.obstacle->value;
  os::SignalWatch signals = watch_signals();
  return start(environment, found, signals, [&](RunContext& context) {
    JobRun job(options, plan, prepare_here(options, plan, environment), context, signals);
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
  const Reach reach = decide_reach(options, given);
  if (reach.hosts) return launch_across(options, arguments, facts, *reach.hosts);
  discard_key(options);  // One host needs none.
  facts.declared = reach.declared;
  return launch_here(options.preflight ? preflight_here(options, arguments, facts) : options, facts,
                     environment);
}

// An exit code, where anything is thrown as well.
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
