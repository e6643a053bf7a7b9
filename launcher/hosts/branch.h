// The hosts that call this one, and through them those below: lets them in, has a trunk to each
// that calls for as long as the job lasts, gathers what they say of themselves, and hands on what
// goes down to them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/reception.h"
#include "base/time.h"
#include "launcher/hosts/meet/meeting.h"
#include "launcher/hosts/meet/muster.h"
#include "launcher/hosts/meet/routes.h"
#include "launcher/hosts/wire/trunk.h"
#include "launcher/ranks/news.h"
#include "os/listener.h"
#include "os/poll_set.h"

namespace rota::launcher {

class Branch {
 public:
  using Say = std::function<void(const std::string& line)>;

  struct Access {
    auth::Credentials secret;
    std::uint64_t incarnation = 0;  // Of the job.
    os::Listener listener;          // Which they call; closed where nobody does.
  };

  // `meeting` outlives it. `own`: how this host would introduce itself.
  Branch(const Meeting& meeting, Access access, Hello own, Say say);
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

  Muster& muster() noexcept { return muster_; }
  const Muster& muster() const noexcept { return muster_; }
  const Routes& routes() const noexcept { return routes_; }
  // What was wrong with the last caller who was turned away: the end of a sentence about the
  // absent.
  std::string stranger_text() const;
  std::size_t host_count() const noexcept { return members_.size(); }
  bool is_gathering() const noexcept { return phase_ == Phase::kGathering; }

  // The number by which those who call have reached this host; throws Error kPeerLost where none
  // of them is here.
  std::string own_address() const;

  // One turn of a loop, which never blocks. Returns what is for the leader: kSaid, kOutput and
  // kNews. A host that is lost is news as well, as is that nothing is left on one that calls and
  // all below it.
  void add_to(os::PollSet& polls);
  std::vector<Dispatch> handle(base::TimePoint now);
  void send_all(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // All are here: nobody else is let in, but those that have no ranks, and who goes now is lost.
  // `shares`: those of this host and of all below it. A host that comes anew then calls again until
  // this world has ended, unless the one in its place is alive.
  void assign(const std::vector<HostText>& shares);

  // To all that are below.
  void send(const Dispatch& dispatch);

  // To the host of a rank that is below; where that is lost, nowhere.
  void send_to_rank(std::size_t rank, const Dispatch& dispatch);
  bool reaches_rank(std::size_t rank) const;

  // Sends all home.
  void refuse(const Dispatch& refusal, base::TimePoint now);

  // Whether nothing of the job is left below. And of the connections; but not of that toward
  // `last_host`, which waits until we have gone.
  bool have_ended() const;
  bool are_gone(std::size_t last_host) const;
  void on_finish(int exit_code);

  // For another branch in its place; those that called this one are hung up on, and call again.
  os::Listener take_listener() { return std::move(access_.listener); }

 private:
  struct Member {
    std::unique_ptr<Trunk> trunk;
    bool has_ended = false;
    bool is_slow = false;  // And that was said.
  };
  struct Newcomer {
    std::unique_ptr<Trunk> trunk;
    std::size_t host = 0;
    base::TimePoint since;
    std::vector<HostText> hellos;  // As it introduces itself, and those below it.
  };

  auth::Judgement judge(const auth::Identity& caller) const;
  bool is_too_late(std::size_t host) const;
  std::string why_too_late() const;
  void receive_newcomers(base::TimePoint now);
  void name_stranger();
  bool settle(Newcomer& newcomer, base::TimePoint now);
  std::optional<Refusal> admit(std::size_t host, const std::vector<HostText>& hellos);
  void let_begin(std::size_t host);
  void turn_away(Newcomer& newcomer, const Refusal& refusal, base::TimePoint now);
  void hear(std::size_t host, base::TimePoint now);
  void on_dispatch(std::size_t host, Dispatch dispatch);
  void on_news(std::size_t host, Dispatch dispatch);
  void watch_silence(std::size_t host, base::TimePoint now);
  void lose(std::size_t host, const std::string& why);

  enum class Phase { kGathering, kRunning, kFinished };

  const Meeting& meeting_;
  Say say_;
  Muster muster_;
  Routes routes_;
  Access access_;
  auth::Reception reception_;
  Phase phase_ = Phase::kGathering;
  bool is_ending_ = false;              // The ranks below were asked to end.
  bool is_done_ = false;                // With success.
  std::vector<std::string> strangers_;  // Those that were named, and why.
  std::vector<Newcomer> newcomers_;
  std::vector<Member> members_;     // By host: those that call this one.
  std::vector<Dispatch> arrivals_;  // Of this turn.

  // What was sent, for those without ranks, which may come later.
  std::map<std::size_t, std::vector<HostText>> shares_;  // By those that call.
  std::optional<Dispatch> flow_;
  std::optional<Dispatch> start_;
};

}  // namespace rota::launcher
