// A Follower runs a host that does not lead. The host connects to its parent, which is the leader
// or a host between this one and the leader. It prepares its ranks and starts them when the leader
// says so. It passes messages between its ranks, the hosts below it and the leader.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/hosts/rendezvous/join_parent.h"
#include "launcher/hosts/rendezvous/prepared_ranks.h"
#include "launcher/hosts/subtree.h"
#include "launcher/hosts/wire/launcher_link.h"
#include "launcher/ranks/local_processes.h"
#include "launcher/ranks/local_ranks.h"
#include "launcher/ranks/signal_echoes.h"
#include "launcher/status/status_port.h"
#include "os/poll_set.h"
#include "rendezvous/connections.h"

namespace rota::launcher {

class Follower {
 public:
  explicit Follower(HostSetup setup);

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
  void hear_request(const os::Signal& signal);
  void hear_notice(const os::Signal& signal);
  void on_message(const ControlMessage& message);
  void pass_down(const ControlMessage& message);
  void on_assignments(const ControlMessage& message);
  void prepare(HostAssignment assignment);
  void start(const StartInfo& start_info);
  void show_life();
  void pass_to_rank(const ControlMessage& relayed);
  void pass_letter(const ControlMessage& message);
  void report(const JobEvent& event);
  void tell_obstacle(int exit_code, const std::string& why);
  void tell(const JobEvent& event) {
    link_->send({.type = ControlMessageType::kEvent, .text = encode(event)});
  }
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
  std::string own_name() const { return name_of_host(setup_.host_plan, setup_.host_plan.own_host); }
  std::string parent() const { return parent_text(setup_.host_plan); }
  void speak(const std::string& line);

  HostSetup setup_;
  // True if no other host started this one. Then this host prints what the leader says. If another
  // host started this one, that other host prints it.
  bool is_alone_;
  base::TimePoint start_;
  base::TimePoint now_;
  std::string address_;  // The address by which the parent and others reach this host.
  std::unique_ptr<LauncherLink> link_;
  std::unique_ptr<Subtree> subtree_;
  base::TimePoint say_at_;  // When to name the hosts below that are absent.
  std::optional<PreparedRanks> prepared_;
  std::unique_ptr<LocalProcesses> processes_;  // With the ranks of this host, once prepared.
  std::unique_ptr<LocalRanks> local_;
  std::unique_ptr<rendezvous::Connections> connections_;
  auth::Key data_key_;
  bool has_started_ = false;
  std::optional<base::TimePoint> lost_at_;  // When the loss of the parent was last reported.
  // The job has not begun, and the parent is gone or said kCallAgain: connect again.
  bool comes_again_ = false;
  bool has_said_end_ = false;
  bool is_done_ = false;
  std::uint32_t last_host_ = kNoHost;         // The host that exits last.
  std::optional<base::TimePoint> signal_at_;  // When the first request to end came.
  SignalEchoes echoes_;
  std::optional<base::TimePoint> kill_at_;  // When to kill the ranks; set once the parent is lost.
  std::optional<int> exit_code_;
  std::optional<StatusPort> status_port_;
  RankTable table_;                // Set once the job has started.
  std::vector<RankState> states_;  // By rank.
  Flow flow_;                      // Whether the leader can take more output.
  Flow applied_flow_;
  os::PollSet polls_;
  std::size_t signal_position_ = 0;
  std::size_t lifeline_position_ = 0;  // 0: no lifeline.
};

}  // namespace rota::launcher
