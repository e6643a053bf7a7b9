// A job across hosts, run by the same command on each of them.
#include "launcher/hosts/across.h"

#include <string>
#include <utility>

#include "launcher/hosts/meeting.h"
#include "launcher/hosts/part.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

std::size_t own_slots(const Meeting& meeting, const Facts& facts) {
  const auto& hosts = meeting.cluster.hosts;
  const bool is_declared =
      meeting.own_host < hosts.size() && hosts[meeting.own_host].slots.has_value();
  if (is_declared) return *hosts[meeting.own_host].slots;
  return count_slots(facts.allowed_cpus.size(), facts.cpu_quota).count;
}

}  // namespace

int run_across(const Options& options, const Facts& facts, const cluster::Specification& hosts,
               const RunContext& context, os::SignalWatch& signals) {
  Meeting meeting = plan_meeting(hosts, options);
  Hello hello{.version = ROTA_VERSION,
              .host = facts.host,
              .cluster = meeting.cluster_text,
              .instance = std::to_string(os::own_process()),
              .slot_count = own_slots(meeting, facts)};
  if (const auto& obstacle = context.obstacle) {
    hello.obstacle_code = obstacle->value;
    hello.obstacle = obstacle->text;
  }
  const auth::Key key = key_of_job(options, meeting, context.environment);
  const bool leads = meeting.own_host == 0;
  Part part{.options = options,
            .facts = facts,
            .context = context,
            .signals = signals,
            .meeting = std::move(meeting),
            .key = key,
            .own = std::move(hello)};
  return leads ? lead(std::move(part)) : follow(std::move(part));
}

}  // namespace rota::launcher
