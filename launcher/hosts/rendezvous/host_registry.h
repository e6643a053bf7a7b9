// The host registry records which of the hosts below this one have come, and says what this host
// reports about them to its parent. While a job waits for absent hosts, the registry names them. It
// is a state machine that uses neither a clock nor a socket.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/hosts/rendezvous/routes.h"
#include "launcher/hosts/wire/control_message.h"

namespace rota::launcher {

// Why a host must not take part, and the exit code that the host ends with.
struct Refusal {
  int exit_code = 0;
  std::string why;
};

class HostRegistry {
 public:
  // `host_plan` must outlive this object. `own`: the Hello of this host. A host without ranks may
  // join, but the registry does not wait for it.
  HostRegistry(const HostPlan& host_plan, std::size_t own_host, Hello own);

  // Handles a child that connects. `hellos` has the child's own Hello, and those of the hosts below
  // the child that have come to the child so far. Returns nothing if the child is admitted.
  std::optional<Refusal> on_call(std::size_t host, const std::vector<HostText>& hellos);

  // Record what an admitted child reports about hosts below it: their Hellos, or the endpoints of
  // the ranks that `given` assigns to these hosts.
  void on_hellos(std::size_t child, const std::vector<HostText>& hellos);
  void on_endpoints(std::size_t child, const std::vector<HostText>& endpoints, const Routes& given);
  void set_own_endpoints(HostEndpoints endpoints);

  // Records that the connection of a host has ended. That host and all hosts below it count as
  // absent. They may come again.
  void on_lost(std::size_t host);

  // Return messages for the parent, which report each host once. take_hello() returns the Hellos,
  // once all hosts have come. If some hosts take long, it returns the Hellos that have come so far.
  // take_ready() returns the endpoints, once all hosts that are here have reported theirs.
  std::optional<ControlMessage> take_hello(base::TimePoint now);
  std::optional<ControlMessage> take_ready();
  std::optional<base::TimePoint> next_deadline() const noexcept { return tell_at_; }

  bool is_complete() const { return absent_count_ == 0; }
  bool is_here(std::size_t host) const;

  // Returns whether all hosts that are here have reported their endpoints.
  bool has_all_endpoints() const;

  // hello() requires a host that is here. endpoints() requires a host that has reported its
  // endpoints.
  const Hello& hello(std::size_t host) const { return *places_.at(host).hello; }
  const HostEndpoints& endpoints(std::size_t host) const { return *places_.at(host).endpoints; }

  // Returns why a host that is here cannot run the program. This host counts, too. Returns nothing
  // if there is no such host.
  std::optional<Refusal> obstacle() const;

  // Returns differences between the hosts that are here, such as different programs. The job runs
  // anyway.
  std::vector<std::string> warnings() const;

  // Returns the absent hosts whose parent is present. Hosts below an absent parent are not listed.
  std::vector<std::size_t> absent() const;

  // Returns a text such as "2 of 4 hosts: host 1 (b:2222), host 3 (d:2222)".
  std::string absent_text() const;

 private:
  struct Place {
    bool is_expected = false;
    bool is_told = false;
    std::optional<Hello> hello;
    std::optional<HostEndpoints> endpoints;
  };

  std::optional<Refusal> judge(std::size_t host, const Hello& hello) const;
  void enter(std::size_t host, Hello hello);
  void clear(std::size_t host);

  const HostPlan& host_plan_;
  std::size_t own_host_;
  std::map<std::size_t, Place> places_;  // By host.
  std::size_t expected_count_ = 0;
  std::size_t absent_count_ = 0;  // Expected hosts that have not come.
  bool is_ready_told_ = false;
  std::optional<base::TimePoint> tell_at_;  // When to report, while some hosts are absent.
};

}  // namespace rota::launcher
