// Asks name servers for many names in parallel, so that a job of many hosts starts without waiting
// for one name after another.
#include "launcher/hosts/rendezvous/lookup.h"

#include <algorithm>
#include <list>

#include "cluster/host_names.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::launcher {
namespace {

// The largest number of look-ups at a time. Each takes one or two sockets, and name servers have
// other clients too.
constexpr std::size_t kMostAtOnce = 64;

// A resolver requires a name and a port, but the port does not matter here.
constexpr const char* kAnyPort = ":1";

struct Asked {
  std::size_t index;
  names::Resolver resolver;
};

void wait_for_any(const std::list<Asked>& asked) {
  os::PollSet polls;
  std::optional<base::TimePoint> end;
  for (const Asked& one : asked) {
    one.resolver.add_to(polls);
    end = base::earlier(end, one.resolver.next_deadline());
  }
  polls.wait(end);
}

}  // namespace

std::vector<names::Answer> look_up(const std::vector<std::string>& names,
                                   const names::Options& options) {
  std::vector<names::Answer> answers(names.size());
  std::list<Asked> asked;
  for (std::size_t next = 0; next < names.size() || !asked.empty();) {
    while (next < names.size() && asked.size() < kMostAtOnce) {
      asked.push_back({.index = next, .resolver = names::Resolver(options)});
      asked.back().resolver.ask_addresses(with_brackets(names[next]) + kAnyPort);
      ++next;
    }
    const auto is_answered = [&](Asked& one) {
      auto answer = one.resolver.advance();
      if (!answer) return false;
      answers[one.index] = std::move(*answer);
      return true;
    };
    if (asked.remove_if(is_answered) == 0) wait_for_any(asked);
  }
  return answers;
}

std::vector<std::string> names_of(const std::vector<cluster::Host>& hosts) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const cluster::Host& host : hosts) names.push_back(host.name);
  return names;
}

std::optional<std::size_t> find_this_host(const std::vector<names::Answer>& answers) {
  const std::vector<std::string> own = os::own_addresses();
  const auto is_own = [&](const os::Address& address) {
    return cluster::is_loopback(address.host()) ||
           std::ranges::find(own, address.host()) != own.end();
  };
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (std::ranges::none_of(answers[i].addresses, is_own)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace rota::launcher
