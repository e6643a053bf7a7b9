// rotarun: starts a program as the ranks of a job, watches them, and ends what it started.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rota/error.h>
#include <rota/rank_table.h>

#include "launcher/exit_policy.h"
#include "launcher/guard.h"
#include "launcher/hosts/across.h"
#include "launcher/hosts/started.h"
#include "launcher/job_plan.h"
#include "launcher/job_run.h"
#include "launcher/options.h"
#include "launcher/preflight.h"
#include "launcher/reach.h"
#include "launcher/show_ranks.h"
#include "launcher/table_json.h"
#include "launcher/topology.h"
#include "os/host.h"
#include "os/pipe.h"
#include "os/signals.h"

namespace rota::launcher {
namespace {

constexpr std::array<int, 5> kWatchedSignals = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};

void complain(const std::string& text) { std::fprintf(stderr, "rotarun: %s\n", text.c_str()); }

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

int show_ranks(const Options& options, Facts facts, const cluster::Given& given) {
  auto shown = table_of_several_hosts(options, given, slots_of(options, facts).count);
  if (!shown) {
    facts.declared = decide_reach(options, given).declared;
    const JobPlan plan = plan_job(options, facts);
    for (const std::string& warning : plan.warnings) complain("warning: " + warning);
    shown = ShownTable{.table = plan.job.table};
  }
  if (!shown->note.empty()) complain(shown->note);
  return print(options.json ? to_json(shown->table) : to_text(shown->table));
}

// The program as it is found here. Where it cannot run, that is known to be the job's end on one
// host; several have to hear of it.
struct Found {
  std::string program_path;
  std::optional<News> obstacle;
};

Found find_program(const Options& options, const std::vector<std::string>& environment) {
  const Preflight preflight = check_program(options, environment);
  for (const std::string& warning : preflight.warnings) complain("warning: " + warning);
  Found found{.program_path = preflight.program_path};
  if (preflight.exit_code == 0) return found;
  complain(preflight.complaint);
  found.obstacle = News{
      .kind = News::Kind::kNotStarted, .value = preflight.exit_code, .text = preflight.complaint};
  return found;
}

int start(const std::vector<std::string>& environment, const Found& found, os::SignalWatch& signals,
          const std::function<int(RunContext& context)>& run, OtherChildren* others = nullptr) {
  const auto body = [&](pid_t guard) {
    RunContext context{.program_path = found.program_path,
                       .environment = environment,
                       .open_file_limit = os::raise_open_file_limit(),
                       .guard = guard,
                       .obstacle = found.obstacle};
    return run(context);
  };
  return run_guarded(signals, body, others);
}

int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& facts, const cluster::Specification& hosts) {
  const std::vector<std::string> environment = os::environment();
  const Found found = find_program(options, environment);
  os::SignalWatch signals(kWatchedSignals);
  if (!starts_others(options, hosts)) {
    return start(environment, found, signals, [&](RunContext& context) {
      return run_across(options, facts, hosts, context, signals);
    });
  }
  StartedHosts started =
      start_others(options, arguments, hosts, environment, signals.state_at_start());
  OtherChildren* agents = started.agents.get();
  return start(
      environment, found, signals,
      [&](RunContext& context) {
        return lead_started(std::move(started), options, facts, context, signals);
      },
      agents);
}

// Another rotarun has started this one, for its own host.
int launch_followed() {
  const Facts facts = gather_facts();
  FollowedOrders orders = follow_orders(STDIN_FILENO, facts);
  const std::vector<std::string> environment = os::environment();
  const Found found = find_program(orders.options, environment);
  os::SignalWatch signals(kWatchedSignals);
  return start(environment, found, signals, [&](RunContext& context) {
    context.has_input = false;
    return follow_started(std::move(orders), STDIN_FILENO, facts, context, signals);
  });
}

int launch(const Options& options, const std::vector<std::string>& arguments) {
  if (options.follow) return launch_followed();
  Facts facts = gather_facts();
  const std::vector<std::string> environment = os::environment();
  const cluster::Given given = gather_given(options, environment, facts.host);
  if (options.explain) return explain(options, facts, given);
  if (options.show_ranks) return show_ranks(options, facts, given);
  const Reach reach = decide_reach(options, given);
  if (reach.hosts) return launch_across(options, arguments, facts, *reach.hosts);
  facts.declared = reach.declared;
  const JobPlan plan = plan_job(options, facts);
  for (const std::string& warning : plan.warnings) complain("warning: " + warning);
  const Found found = find_program(options, environment);
  if (found.obstacle) return found.obstacle->value;
  os::SignalWatch signals(kWatchedSignals);
  return start(environment, found, signals, [&](RunContext& context) {
    JobRun job(options, plan, prepare_here(options, plan, environment), context, signals);
    return job.run();
  });
}

int run(const std::vector<std::string>& arguments) {
  try {
    os::fill_standard_descriptors();
    const Options options = parse_options(arguments, os::environment());
    if (options.help) return print(help_text());
    if (options.version) return print("rotarun " ROTA_VERSION "\n");
    return launch(options, arguments);
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

}  // namespace
}  // namespace rota::launcher

int main(int argc, char** argv) {
  return rota::launcher::run(std::vector<std::string>(argv + 1, argv + argc));
}
