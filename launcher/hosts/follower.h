// The part of a host that does not lead: calls the leader, or the host that is above it in a tree
// of them, prepares its ranks, starts them when it is told to, and passes on what they, the hosts
// below and the leader say to each other.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/hosts/branch.h"
#include "launcher/hosts/meet/approach.h"
#include "launcher/hosts/meet/part.h"
#include "launcher/hosts/meet/seating.h"
#include "launcher/hosts/wire/trunk.h"
#include "launcher/ranks/household.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/status/status_port.h"
#include "os/poll_set.h"
#include "rendezvous/lines.h"

namespace rota::launcher {

class Follower {
 public:
  explicit Follower(Part part);

  // Returns the exit code.
  int run();

 private:
  std::optional<int> enter();
  void leave();
  void turn();
  void wait();
  void hear_parent();
  void hear_children();
  void tell_parent();
  void hear_lifeline();
  void hear_signals();
  void on_dispatch(const Dispatch& dispatch);
  void pass_down(const Dispatch& dispatch);
  void on_shares(const Dispatch& dispatch);
  void prepare(Share share);
  void start(const Beginning& beginning);
  void show_life();
  void pass_to_rank(const Dispatch& dispatch);
  void report(const News& news);
  void tell_obstacle(int exit_code, const std::string& why);
  void tell(const News& news) { trunk_->send({.type = DispatchType::kNews, .text = encode(news)}); }
  void on_parent_lost(const std::string& why);
  void watch_parent();
  void watch_end();
  void say_who_is_absent();
  void regulate_output();
  void carry_output(std::size_t local_rank, Stream stream, std::string_view bytes);
  void write_rest();
  int finish();
  void take_leave();
  void stay();
  JobStatus status() const;
  std::string own_name() const { return name_of_host(part_.meeting, part_.meeting.own_host); }
  std::string parent() const { return parent_text(part_.meeting); }
  void speak(const std::string& line);

  Part part_;
  bool is_alone_;  // Nobody who has started it passes on what it says, beside what the leader says.
  base::TimePoint start_;
  base::TimePoint now_;
  std::string address_;  // By which the parent, and so the others, reach this host.
  std::unique_ptr<Trunk> trunk_;
  std::unique_ptr<Branch> branch_;
  base::TimePoint say_at_;  // Who of those below is absent.
  std::optional<Seating> seating_;
  std::unique_ptr<Household> household_;  // With its ranks, once they are prepared.
  std::unique_ptr<LocalRanks> local_;
  std::unique_ptr<rendezvous::Lines> lines_;
  auth::Key data_key_;
  bool has_started_ = false;
  std::optional<base::TimePoint> lost_at_;  // Whom it had called, when that was said last.
  bool comes_again_ = false;  // There is no world yet, and whom it has called is gone.
  bool has_said_end_ = false;
  bool is_done_ = false;
  std::uint32_t last_host_ = kNoHost;         // To exit.
  std::optional<base::TimePoint> signal_at_;  // When the first one came.
  std::optional<base::TimePoint> kill_at_;    // Without a leader.
  std::optional<int> exit_code_;
  std::optional<StatusPort> status_port_;
  RankTable table_;                // Once it has started.
  std::vector<RankState> states_;  // By rank.
  Flow flow_;                      // Of the output that is shown where the leader is.
  Flow applied_flow_;
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  std::size_t lifeline_position_ = 0;  // 0: there is none.
};

}  // namespace rota::launcher
