// rotarun: starts a program as the ranks of a job, watches them, and ends what it started.
#include <signal.h>

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

using Run = std::function<int(RunContext& context, os::SignalWatch& signals)>;

int start(const std::vector<std::string>& environment, const std::string& program_path,
          const Run& run) {
  os::SignalWatch signals(kWatchedSignals);
  return run_guarded(signals, [&](pid_t guard) {
    RunContext context{.program_path = program_path,
                       .environment = environment,
                       .open_file_limit = os::raise_open_file_limit(),
                       .guard = guard};
    return run(context, signals);
  });
}

int run_here(const Options& options, const JobPlan& plan, const RunContext& context,
             os::SignalWatch& signals) {
  for (const std::string& warning : plan.warnings) complain("warning: " + warning);
  JobRun job(options, plan, prepare_here(options, plan, context.environment), context, signals);
  return job.run();
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

int launch(const Options& options) {
  Facts facts = gather_facts();
  const std::vector<std::string> environment = os::environment();
  const cluster::Given given = gather_given(options, environment, facts.host);
  if (options.explain) return explain(options, facts, given);
  if (options.show_ranks) return show_ranks(options, facts, given);
  const Reach reach = decide_reach(options, given);
  facts.declared = reach.declared;
  const Preflight preflight = check_program(options, environment);
  for (const std::string& warning : preflight.warnings) complain("warning: " + warning);
  std::optional<News> obstacle;
  if (preflight.exit_code != 0) {
    complain(preflight.complaint);
    if (!reach.hosts) return preflight.exit_code;
    obstacle = News{
        .kind = News::Kind::kNotStarted, .value = preflight.exit_code, .text = preflight.complaint};
  }
  const auto run = [&](RunContext& context, os::SignalWatch& signals) {
    context.obstacle = obstacle;
    return reach.hosts ? run_across(options, facts, *reach.hosts, context, signals)
                       : run_here(options, plan_job(options, facts), context, signals);
  };
  return start(environment, preflight.program_path, run);
}

int run(const std::vector<std::string>& arguments) {
  try {
    os::fill_standard_descriptors();
    const Options options = parse_options(arguments, os::environment());
    if (options.help) return print(help_text());
    if (options.version) return print("rotarun " ROTA_VERSION "\n");
    return launch(options);
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
