// Followers represents all other hosts for the leader. Through this class the leader's JobRun
// starts, watches and ends the ranks on other hosts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/key.h"
#include "base/time.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/hosts/subtree.h"
#include "launcher/job/other_hosts.h"
#include "os/listener.h"

namespace rota::launcher {

class Followers final : public OtherHosts {
 public:
  // `host_plan` must outlive this object. The other hosts connect to `listener`.
  Followers(const HostPlan& host_plan, const auth::Credentials& secret, Hello own,
            os::Listener listener, Subtree::Say say);
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;
  ~Followers() override;

  const HostRegistry& registry() const noexcept { return subtree_.registry(); }
  std::string stranger_text() const { return subtree_.stranger_text(); }

  // Returns the incarnation of the job, which distinguishes this run from other runs with the same
  // key. The incarnation is a random number, which the leader chooses and sends to all hosts.
  std::uint64_t incarnation() const noexcept { return incarnation_; }

  // Returns the numeric address by which the other hosts have reached this host. Throws Error
  // kPeerLost if no other host is connected.
  std::string own_address() const { return subtree_.own_address(); }

  // Gives each host its assignment, once all hosts have come. From then on no other host with ranks
  // is admitted, and a host that leaves counts as lost. `assignments`: by host. `own`: the
  // endpoints of this host.
  void assign(const std::vector<HostAssignment>& assignments, HostEndpoints own);

  // Refuses all hosts: each ends with this exit code and text.
  void refuse_all(int exit_code, const std::string& why, base::TimePoint now);

  // Sets the start info that start() sends to all hosts.
  void set_start_info(StartInfo start_info) { start_info_ = std::move(start_info); }

  std::unique_ptr<rendezvous::Connection> connection_to(std::size_t rank) override;
  void add_to(os::PollSet& polls) override { subtree_.add_to(polls); }
  std::vector<JobEvent> handle(const os::PollSet& polls, base::TimePoint now) override;
  void send_all(base::TimePoint now) override { subtree_.send_all(now); }
  std::optional<base::TimePoint> next_deadline() const override { return subtree_.next_deadline(); }
  std::vector<std::size_t> ranks_of(std::size_t host) const override;
  void start() override;
  void ask_to_end(int signal, const std::string& text) override;
  void kill() override;
  void signal_ranks(int signal) override;
  void end_fence(const FenceResult& result) override;
  void send_letter(const MpiLetter& letter) override;
  void set_flow(Flow flow) override;
  bool have_ended() const override { return subtree_.have_ended(); }
  void finish(int exit_code, std::optional<std::size_t> last_rank) override;
  bool are_gone() const override { return subtree_.are_gone(last_host_); }

 private:
  class RelayedConnection;

  std::uint64_t incarnation_;
  Subtree subtree_;
  std::vector<std::deque<std::vector<std::byte>>> said_;  // By rank: unread messages.
  std::size_t last_host_ = kNoHost;                       // The host that exits last.
  StartInfo start_info_;
  Flow flow_;
};

}  // namespace rota::launcher
