// A job across hosts, run by the same command on each of them.
#include "launcher/hosts/across.h"

#include <cstdio>
#include <string>
#include <utility>

#include <rota/error.h>

#include "launcher/hosts/meet/meeting.h"
#include "launcher/hosts/meet/part.h"
#include "launcher/hosts/meet/pod.h"
#include "launcher/hosts/meet/tree.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

os::Listener listen_for_others(const std::string& place, const RunContext& context) {
  try {
    return os::listen_at(place);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) +
                                  ": there rotarun waits for the other hosts; where another job "
                                  "has it, give this one other ports by --ports" +
                                  port_hint(read_pod_facts(context.environment)));
  }
}

}  // namespace

int run_across(const Options& options, const Facts& facts, const Others& others,
               const RunContext& context, os::SignalWatch& signals) {
  for (const std::string& remark : others.hosts.remarks) {
    std::fprintf(stderr, "rotarun: note: %s\n", remark.c_str());
  }
  Meeting meeting = plan_meeting(others.hosts, options);
  Hello hello = make_hello(meeting, options, facts, context);
  const auth::Key key = others.key ? auth::job_key(others.key->bytes(), meeting.job_id)
                                   : key_of_job(options, meeting, context.environment);
  const bool leads = meeting.own_host == meeting.leader_host;
  Part part{.options = options,
            .facts = facts,
            .context = context,
            .signals = signals,
            .meeting = std::move(meeting),
            .key = key,
            .own = std::move(hello)};
  // Where the others call: all of them, or those that are below this host.
  const std::size_t own_host = part.meeting.own_host;
  if (leads || !children_of(part.meeting, own_host).empty()) {
    part.listener = listen_for_others(place_of(part.meeting, own_host), context);
  }
  return leads ? lead(std::move(part)) : follow(std::move(part));
}

}  // namespace rota::launcher
