// A Subtree represents the hosts below this host: its children, and the hosts below its children.
// The Subtree admits the children, keeps a launcher link to each while the job lasts, collects what
// the hosts below report, and passes messages down to them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/acceptor.h"
#include "base/time.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/hosts/rendezvous/host_registry.h"
#include "launcher/hosts/rendezvous/routes.h"
#include "launcher/hosts/wire/launcher_link.h"
#include "launcher/ranks/job_event.h"
#include "os/listener.h"
#include "os/poll_set.h"

namespace rota::launcher {

class Subtree {
 public:
  using Say = std::function<void(const std::string& line)>;

  struct Access {
    auth::Credentials secret;
    std::uint64_t incarnation = 0;  // The job's incarnation.
    os::Listener listener;          // Children connect to it; closed if there are none.
  };

  // `host_plan` must outlive this object. `own`: the Hello of this host.
  Subtree(const HostPlan& host_plan, Access access, Hello own, Say say);
  Subtree(const Subtree&) = delete;
  Subtree& operator=(const Subtree&) = delete;

  HostRegistry& registry() noexcept { return registry_; }
  const HostRegistry& registry() const noexcept { return registry_; }
  const Routes& routes() const noexcept { return routes_; }
  // Returns which caller was refused last, and why, as the end of a sentence about absent hosts.
  // The text is empty if no caller was refused.
  std::string stranger_text() const;
  std::size_t host_count() const noexcept { return members_.size(); }
  bool is_gathering() const noexcept { return phase_ == Phase::kGathering; }

  // Returns the numeric address by which the children have reached this host. Throws Error
  // kPeerLost if no child is connected.
  std::string own_address() const;

  // Each of these functions makes one iteration of a loop, and never blocks. handle() returns the
  // messages for the leader: kSaid, kOutput and kEvent. The loss of a host is an event as well.
  // handle() does not return kHostEnded; see have_ended().
  void add_to(os::PollSet& polls);
  std::vector<ControlMessage> handle(base::TimePoint now);
  void send_all(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // Gives the hosts below their assignments, once all hosts have come. From then on only hosts
  // without ranks are admitted, and a host that leaves counts as lost. `assignments` has those of
  // this host and of all hosts below it. If the rotarun of a host is lost and a new one comes, the
  // new one is told to connect again later, because this world must end first. While the earlier
  // rotarun is alive, a new one is refused.
  void assign(const std::vector<HostText>& assignments);

  // Sends a message to all hosts below.
  void send(const ControlMessage& message);

  // Sends a message to the host of a rank below; drops the message if that host is lost.
  void send_to_rank(std::size_t rank, const ControlMessage& message);
  bool reaches_rank(std::size_t rank) const;

  // Refuses all hosts below, and closes their links.
  void refuse(const ControlMessage& refusal, base::TimePoint now);

  // have_ended() returns whether no host below has a process of the job. are_gone() returns whether
  // the links are closed as well. The link toward `last_host` may still be open, as that host waits
  // until this host has gone.
  bool have_ended() const;
  bool are_gone(std::size_t last_host) const;
  void on_finish(int exit_code);

  // Gives the listener to the subtree that replaces this one. The children of this subtree lose
  // their links and connect again.
  os::Listener take_listener() { return std::move(access_.listener); }

 private:
  struct Member {
    std::unique_ptr<LauncherLink> link;
    bool has_ended = false;
    bool is_slow = false;  // The host is slow, and that was reported.
  };
  enum class Phase { kGathering, kRunning, kFinished };
  struct Newcomer {
    std::unique_ptr<LauncherLink> link;
    std::size_t host = 0;
    base::TimePoint since;
    std::vector<HostText> hellos;  // The newcomer's own Hello, and those of hosts below it.
  };

  auth::Admission judge(const auth::Identity& caller) const;
  auth::Admission misfit(const std::string& why) const;
  bool is_too_late(std::size_t host) const;
  std::string why_too_late() const;
  void receive_newcomers(base::TimePoint now);
  void name_stranger();
  bool settle(Newcomer& newcomer, base::TimePoint now);
  std::optional<Refusal> admit(std::size_t host, const std::vector<HostText>& hellos);
  void let_begin(std::size_t host);
  void turn_away(Newcomer& newcomer, const Refusal& refusal, base::TimePoint now);
  void hear(std::size_t host, base::TimePoint now);
  void on_message(std::size_t host, ControlMessage message);
  void on_event(std::size_t host, ControlMessage message);
  void begin(Phase phase);
  void watch_liveness(std::size_t host, base::TimePoint now);
  void lose(std::size_t host, const std::string& why);

  const HostPlan& host_plan_;
  Say say_;
  HostRegistry registry_;
  Routes routes_;
  Access access_;
  auth::Acceptor acceptor_;
  Phase phase_ = Phase::kGathering;
  bool is_ending_ = false;              // The ranks below were asked to end.
  bool is_done_ = false;                // The job ended with success.
  std::vector<std::string> strangers_;  // Callers named so far, and why they were turned away.
  std::vector<Newcomer> newcomers_;
  std::vector<Member> members_;           // By host; only children have links.
  std::vector<ControlMessage> arrivals_;  // Messages for the leader, in this iteration.

  // Messages sent so far, kept for hosts without ranks, which may come later.
  std::map<std::size_t, std::vector<HostText>> assignments_;  // By child.
  std::optional<ControlMessage> flow_;
  std::optional<ControlMessage> start_;
};

}  // namespace rota::launcher
