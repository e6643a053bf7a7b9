// The other hosts, on the leader's side: receives their calls, gathers them, and has a trunk to
// each of them for as long as the job lasts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/reception.h"
#include "base/time.h"
#include "launcher/hosts/meeting.h"
#include "launcher/hosts/muster.h"
#include "launcher/hosts/trunk.h"
#include "launcher/other_hosts.h"
#include "os/listener.h"

namespace rota::launcher {

class Followers final : public OtherHosts {
 public:
  using Say = std::function<void(const std::string& line)>;

  // `meeting` outlives it; the others call `listener`.
  Followers(const Meeting& meeting, const auth::Credentials& secret, Hello own,
            os::Listener listener, Say say);
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;
  ~Followers() override;

  // While they gather.
  bool are_here() const { return muster_.is_complete(); }
  const Muster& muster() const noexcept { return muster_; }
  const std::string& last_stranger() const { return reception_.last_complaint(); }

  // Of the job: drawn here, and told to all.
  std::uint64_t incarnation() const noexcept { return incarnation_; }

  // The number by which the others have reached this host; one of them is here.
  std::string own_address() const;

  // All are here: nobody else is let in, and who goes now is lost. `shares` by host.
  void assign(const std::vector<Share>& shares);

  // Whether every host has said where its ranks are.
  bool are_seated() const;
  const Seats& seats(std::size_t host) const { return *members_[host].seats; }
  const std::vector<std::size_t>& ranks(std::size_t host) const { return members_[host].ranks; }

  // Sends all home, with this exit code and text.
  void refuse_all(int exit_code, const std::string& why, base::TimePoint now);

  // What goes to all with start().
  void set_beginning(Beginning beginning) { beginning_ = std::move(beginning); }

  std::unique_ptr<rendezvous::Line> line_to(std::size_t rank) override;
  void add_to(os::PollSet& polls) override;
  std::vector<News> handle(const os::PollSet& polls, base::TimePoint now) override;
  void send_all(base::TimePoint now) override;
  std::optional<base::TimePoint> next_deadline() const override;
  std::vector<std::size_t> ranks_of(std::size_t host) const override { return ranks(host); }
  void start() override;
  void ask_to_end(int signal, const std::string& text) override;
  void kill() override;
  bool have_ended() const override;
  void finish(int exit_code, std::optional<std::size_t> last_rank) override;
  bool are_gone() const override;

 private:
  class RelayedLine;

  struct Member {
    std::unique_ptr<Trunk> trunk;
    std::vector<std::size_t> ranks;
    std::optional<Seats> seats;
    bool has_ended = false;
    bool is_slow = false;  // And that was said.
    bool is_last = false;  // To exit.
  };
  struct Newcomer {
    std::unique_ptr<Trunk> trunk;
    std::size_t host = 0;
    base::TimePoint since;
    std::optional<Hello> hello;
  };
  struct Rank {
    std::size_t host = 0;
    std::deque<std::vector<std::byte>> arrived;
  };

  std::string judge(const auth::Identity& caller) const;
  void receive_newcomers(base::TimePoint now);
  bool is_settled(Newcomer& newcomer, base::TimePoint now);
  void send_home_at_end(Member& member);
  void turn_away(Newcomer& newcomer, const Refusal& refusal, base::TimePoint now);
  void hear(std::size_t host, base::TimePoint now, std::vector<News>& news);
  void on_dispatch(std::size_t host, const Dispatch& dispatch, std::vector<News>& news);
  void on_news(std::size_t host, const Dispatch& dispatch, std::vector<News>& news);
  void watch_silence(std::size_t host, base::TimePoint now, std::vector<News>& news);
  void lose(std::size_t host, const std::string& why, std::vector<News>& news);
  void tell_all(const Dispatch& dispatch);

  enum class Phase { kGathering, kRunning, kFinished };

  const Meeting& meeting_;
  Say say_;
  Muster muster_;
  os::Listener listener_;
  std::uint64_t incarnation_;
  auth::Reception reception_;
  Phase phase_ = Phase::kGathering;
  std::vector<Newcomer> newcomers_;
  std::vector<Member> members_;  // By host; the leader's is empty.
  std::vector<Rank> ranks_;      // By rank.
  Beginning beginning_;
  base::TimePoint now_;
};

}  // namespace rota::launcher
