// Decides when a job is over, why, and with which exit code. ExitPolicy is a state machine without
// a clock, a process or a signal: the caller tells the policy what happened, and the policy answers
// what to do.
//
//   running ──failure──► settling ──cause known──► concluding ──exit code known─► ending ──► over
//      │                                                                            ▲
//      ├──────────────────────── signal, --timeout, a rank stopped too long ────────┘
//      └──all ranks have ended well──► releasing ──no evaluator runs any more──► over
#pragma once
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/job/root_cause.h"
#include "rendezvous/message.h"

namespace rota::launcher {

// How long ranks may take to end, unless --grace says otherwise. After a failure the ranks have
// nothing to save. If somebody asks for the end, the ranks get time to save their state. This time
// is less than a pod's grace period.
inline constexpr std::chrono::milliseconds kFaultGrace{500};
inline constexpr std::chrono::seconds kRequestGrace{20};

// Requests to end that reach one host within this time are one request. People take longer to press
// Ctrl-C twice.
inline constexpr std::chrono::milliseconds kSameRequestTime{200};

// This time is longer for a signal that a process has sent, and nobody has typed. Such a signal may
// go to the whole process group: to rotarun's outer process (the guard) and to the inner process,
// which runs the job. As soon as the outer process gets a CPU, it passes the signal on, so the
// inner process receives the signal twice.
inline constexpr std::chrono::milliseconds kSameSentRequestTime{1000};

constexpr std::chrono::milliseconds same_request_time(bool was_typed) noexcept {
  return was_typed ? kSameRequestTime : kSameSentRequestTime;
}

// How long killed processes may take to vanish. Only a process that is stuck in the kernel takes
// longer.
inline constexpr std::chrono::seconds kReapTime{5};

// Why a job ended, once the reason is known.
struct Outcome {
  enum class Reason {
    kSuccess,
    kFault,
    kSignal,
    kTimeout,
    kNotStarted,
    kHostLost,
    kMpi,
    kEvaluator
  };
  Reason reason = Reason::kSuccess;
  int code = 0;
  Fault fault{};                       // kFault
  int signal = 0;                      // kSignal
  std::vector<std::size_t> running{};  // kTimeout: ranks that had not ended, if any.
  std::string text{};         // kNotStarted, kHostLost, kMpi: why; kSignal: the other host.
  std::size_t evaluator = 0;  // kEvaluator: which one failed, and how it ended.
  Ending ending{};
};

class ExitPolicy {
 public:
  struct Limits {
    base::Duration deadline;  // How long a rank may stay stopped.
    // The time until SIGKILL. fault_grace: after a failure or the timeout, and for processes that
    // still run after all ranks have ended. request_grace: for ranks if somebody asked for the end.
    base::Duration fault_grace;
    base::Duration request_grace;
    std::optional<base::TimePoint> timeout;
    std::optional<int> stop_signal{};  // Asks for an agreed stop, as SIGTERM does.
  };
  ExitPolicy(std::size_t world_size, Limits limits) : records_(world_size), limits_(limits) {}

  void on_exit(std::size_t rank, const Ending& ending);
  // Evaluators have no rank. An evaluator that fails ends the job. An evaluator that ends well, or
  // after a request to end, does not end the job. The job does not wait for evaluators while ranks
  // run.
  void on_evaluator_start(std::size_t index);
  void on_evaluator_end(std::size_t index, const Ending& ending, base::TimePoint now);
  void on_stopped(std::size_t rank, base::TimePoint now);
  void on_continued(std::size_t rank);
  void on_message(std::size_t rank, const rendezvous::Message& message, base::TimePoint now);
  // Records that MPI in a rank ended the job, with an exit code. MPI does so for the program, or
  // after it has lost a peer: a death that becomes known soon is the cause.
  void on_mpi_abort(std::size_t rank, int code, const std::string& text, base::TimePoint now);
  // Records a fault that somebody else has found. It is the cause, unless another cause is known.
  void on_fault(Fault fault, base::TimePoint now);
  void on_not_started(const std::string& text, int code);
  // Records a request to end: from here, or from the host `who`. A second request ends the job
  // immediately. But one request may arrive twice, or at several hosts: that does not make it a
  // second request.
  void on_signal(int number, base::TimePoint now, const std::string& who = {},
                 bool was_typed = false);
  // Records the loss of a host with its ranks. The loss is the cause, unless another cause is
  // known.
  void on_host_lost(std::span<const std::size_t> ranks, const std::string& text, int code,
                    base::TimePoint now);
  // Records that the MPI world cannot go on, without the fault of a rank that is known. This is the
  // cause, unless another cause is known.
  void on_mpi_failure(const std::string& text, int code, base::TimePoint now);
  // Records that the guard of this process was killed. The killer wants a quick end, whatever
  // --grace says.
  void on_guard_lost(base::TimePoint now);

  enum class Action { kNone, kTerminate, kAgree, kRelease, kKill, kFinish };
  // Returns what to do, each action once. Call it after all events have been reported. kTerminate:
  // the outcome is known, and the ranks must be asked to end. kAgree: the same, but the ranks agree
  // on a step first. kRelease: all ranks have ended, and the evaluators that still run must be
  // asked to end. kFinish: nothing is left to wait for. `can_agree`: whether the ranks can agree
  // now.
  Action decide(base::TimePoint now, bool has_children, bool can_agree = false);

  // Returns whether to wait longer, after kFinish, for the reader of output that is not written
  // yet. A slow reader gets time, unless somebody asked for the job's end, or the job's time is
  // over.
  bool waits_for_reader(base::TimePoint now);

  // Returns whether decide() has not seen a cause for the job's end yet.
  bool is_running() const noexcept {
    return phase_ == Phase::kRunning || phase_ == Phase::kReleasing;
  }
  std::optional<base::TimePoint> next_deadline() const noexcept { return next_deadline_; }
  const Outcome& outcome() const noexcept { return outcome_; }
  std::span<const RankRecord> records() const noexcept { return records_; }
  const std::set<std::size_t>& evaluators() const noexcept { return evaluators_; }  // Running.

 private:
  // How much a failure tells about its cause. An echo repeats what another rank has said, and the
  // message of that rank may still be on its way. A death tells most: no failure of a peer kills a
  // rank.
  enum class Weight { kEcho, kFailure, kDeath };
  enum class Phase { kRunning, kReleasing, kSettling, kConcluding, kEnding, kKilling, kOver };

  bool all_ended() const noexcept { return ended_count_ == records_.size(); }
  bool is_over(bool has_children) const noexcept;
  bool is_release_due() const noexcept;
  bool asks_for_agreed_stop() const noexcept;
  bool is_second(const std::string& who, base::TimePoint now, bool was_typed);
  void note_failure(std::size_t rank, Weight weight);
  void end_output(base::TimePoint end);
  void set_signal(int number, const std::string& who);
  void find_cause(base::TimePoint now);
  void conclude(base::TimePoint now);
  void watch_stopped(base::TimePoint now);
  void watch_limits(base::TimePoint now);
  void end_unless_known(Outcome outcome, base::TimePoint now);
  void end_with(Outcome outcome, base::TimePoint now);
  void wake_at(base::TimePoint time);
  int code_of(const Fault& fault) const;

  std::vector<RankRecord> records_;
  Limits limits_;
  Phase phase_ = Phase::kRunning;
  std::size_t ended_count_ = 0;
  std::set<std::size_t> evaluators_;
  bool has_released_ = false;
  std::optional<std::size_t> first_failure_;
  Weight first_weight_ = Weight::kEcho;
  bool is_end_due_ = false;
  bool may_agree_ = true;
  bool has_agreed_ = false;
  bool is_kill_due_ = false;
  std::optional<base::TimePoint> asked_to_end_;      // When the ranks were first told to end.
  std::map<std::string, base::TimePoint> requests_;  // The first request of each host.
  base::TimePoint give_up_at_{};                     // When the phase stops waiting and goes on.
  std::optional<base::TimePoint> output_end_;
  std::optional<base::TimePoint> next_deadline_;
  Outcome outcome_;
};

}  // namespace rota::launcher
