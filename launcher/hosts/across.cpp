// A job across hosts, run by the same command on each of them.
#include "launcher/hosts/across.h"

#include <string>
#include <utility>

#include "launcher/hosts/meeting.h"
#include "launcher/hosts/part.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

// None where it has no part in the ring.
std::size_t own_slots(const Meeting& meeting, const Options& options, const Facts& facts) {
  const std::vector<std::size_t> slots =
      cluster::slots_of(meeting.cluster, slots_of(options, facts).count);
  return meeting.own_host < slots.size() ? slots[meeting.own_host] : 0;
}

}  // namespace

int run_across(const Options& options, const Facts& facts, const cluster::Specification& hosts,
               const RunContext& context, os::SignalWatch& signals) {
  Meeting meeting = plan_meeting(hosts, options);
  Hello hello{.version = ROTA_VERSION,
              .host = facts.host,
              .cluster = meeting.cluster_text,
              .instance = std::to_string(os::own_process()),
              .slot_count = own_slots(meeting, options, facts)};
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
