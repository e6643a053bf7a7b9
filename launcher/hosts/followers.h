// The other hosts, as the leader's run of the job sees them.
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
#include "launcher/hosts/branch.h"
#include "launcher/hosts/meet/meeting.h"
#include "launcher/job/other_hosts.h"
#include "os/listener.h"

namespace rota::launcher {

class Followers final : public OtherHosts {
 public:
  // `meeting` outlives it; the others call `listener`.
  Followers(const Meeting& meeting, const auth::Credentials& secret, Hello own,
            os::Listener listener, Branch::Say say);
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;
  ~Followers() override;

  const Muster& muster() const noexcept { return branch_.muster(); }
  std::string stranger_text() const { return branch_.stranger_text(); }

  // Of the job: drawn here, and told to all.
  std::uint64_t incarnation() const noexcept { return incarnation_; }

  // The number by which the others have reached this host; one of them is here.
  std::string own_address() const { return branch_.own_address(); }

  // All are here: nobody else is let in, and who goes now is lost. `shares` by host, `own` of this
  // one.
  void assign(const std::vector<Share>& shares, Seats own);

  // Sends all home, with this exit code and text.
  void refuse_all(int exit_code, const std::string& why, base::TimePoint now);

  // What goes to all with start().
  void set_beginning(Beginning beginning) { beginning_ = std::move(beginning); }

  std::unique_ptr<rendezvous::Line> line_to(std::size_t rank) override;
  void add_to(os::PollSet& polls) override { branch_.add_to(polls); }
  std::vector<News> handle(const os::PollSet& polls, base::TimePoint now) override;
  void send_all(base::TimePoint now) override { branch_.send_all(now); }
  std::optional<base::TimePoint> next_deadline() const override { return branch_.next_deadline(); }
  std::vector<std::size_t> ranks_of(std::size_t host) const override;
  void start() override;
  void ask_to_end(int signal, const std::string& text) override;
  void kill() override;
  void set_flow(Flow flow) override;
  bool have_ended() const override { return branch_.have_ended(); }
  void finish(int exit_code, std::optional<std::size_t> last_rank) override;
  bool are_gone() const override { return branch_.are_gone(last_host_); }

 private:
  class RelayedLine;

  std::uint64_t incarnation_;
  Branch branch_;
  std::vector<std::deque<std::vector<std::byte>>> said_;  // By rank, of this world.
  std::size_t last_host_ = kNoHost;                       // To exit.
  Beginning beginning_;
  Flow flow_;
};

}  // namespace rota::launcher
