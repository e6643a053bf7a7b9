// Decides when a job is over, why, and with which code. A machine without a clock, a process or a
// signal: it is told what happened, and answers what to do.
//
//   running ──failure──► settling ──cause known──► concluding ──its code known──► ending ──► over
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
#include "launcher/job/blame.h"
#include "rendezvous/message.h"

namespace rota::launcher {

// How long ranks have to end, unless --grace says so: after a failure they have nothing to save;
// when somebody asks for the end they may, and are done before a pod's grace period is over.
inline constexpr std::chrono::milliseconds kFaultGrace{500};
inline constexpr std::chrono::seconds kRequestGrace{20};

// Requests to end that come to one host no farther apart than this are one request. People press
// Ctrl-C twice more slowly.
inline constexpr std::chrono::milliseconds kSameRequestTime{200};

// The same where a process has sent it: to the whole group, perhaps, and then it comes again from
// the outer process, which passes it on as soon as it gets a CPU.
inline constexpr std::chrono::milliseconds kSameSentRequestTime{1000};

constexpr std::chrono::milliseconds same_request_time(bool was_typed) noexcept {
  return was_typed ? kSameRequestTime : kSameSentRequestTime;
}

// How long killed processes may take to vanish; only one that is stuck in the kernel takes longer.
inline constexpr std::chrono::seconds kReapTime{5};

// Why a job ended, once that is known.
struct Outcome {
  enum class Reason { kSuccess, kFault, kSignal, kTimeout, kNotStarted, kHostLost, kEvaluator };
  Reason reason = Reason::kSuccess;
  int code = 0;
  Fault fault{};                       // kFault
  int signal = 0;                      // kSignal
  std::vector<std::size_t> running{};  // kTimeout: who had not ended.
  std::string text{};                  // kNotStarted, kHostLost; kSignal: who got it, if not we.
  std::size_t evaluator = 0;           // kEvaluator: which one failed, and how it ended.
  Ending ending{};
};

class ExitPolicy {
 public:
  struct Limits {
    base::Duration deadline;  // How long a rank may stay stopped.
    // Until SIGKILL: after a failure or the timeout, and of what all ranks have left behind; and of
    // ranks where somebody asked for the end.
    base::Duration fault_grace;
    base::Duration request_grace;
    std::optional<base::TimePoint> timeout;
  };
  ExitPolicy(std::size_t world_size, Limits limits) : records_(world_size), limits_(limits) {}

  void on_exit(std::size_t rank, const Ending& ending);
  // Evaluators have no rank. One that fails ends the job; one that ends well, or is asked to end,
  // does not, and nobody waits for it while ranks run.
  void on_evaluator_start(std::size_t index);
  void on_evaluator_end(std::size_t index, const Ending& ending, base::TimePoint now);
  void on_stopped(std::size_t rank, base::TimePoint now);
  void on_continued(std::size_t rank);
  void on_message(std::size_t rank, const rendezvous::Message& message, base::TimePoint now);
  void on_not_started(const std::string& text, int code);
  // Somebody wants the job to end: here, or on the host `who`. A second time means at once, unless
  // it is the same request that came twice; or that comes to several hosts.
  void on_signal(int number, base::TimePoint now, const std::string& who = {},
                 bool was_typed = false);
  // A host is gone, with the ranks that it had; that is the cause, unless another one is known.
  void on_host_lost(std::span<const std::size_t> ranks, const std::string& text, int code,
                    base::TimePoint now);
  // Our guard was killed. Whoever did that wants it over soon, whatever --grace says.
  void on_guard_lost(base::TimePoint now);

  enum class Action { kNone, kTerminate, kAgree, kRelease, kKill, kFinish };
  // To be called when all news is told; says each action once. kTerminate: the outcome is known,
  // and the ranks are to be asked to end. kAgree: the same, but they are to agree on a step first.
  // kRelease: all ranks have ended, and evaluators, which go on, are to be asked to end.
  // kFinish: nothing is left to wait for. `can_agree`: whether the ranks can do that now.
  Action decide(base::TimePoint now, bool has_children, bool can_agree = false);

  // After kFinish, while output is left: whether to wait for its reader any longer. Readers may
  // take their time, unless somebody wants the job to end, or its time is over.
  bool waits_for_reader(base::TimePoint now);

  std::optional<base::TimePoint> next_deadline() const noexcept { return next_deadline_; }
  const Outcome& outcome() const noexcept { return outcome_; }
  std::span<const RankRecord> records() const noexcept { return records_; }
  const std::set<std::size_t>& evaluators() const noexcept { return evaluators_; }  // Who run.

 private:
  // How much a failure says about its cause. An echo repeats what another rank has said, which may
  // be on its way still; a rank that was killed was killed by none of its peers' failures.
  enum class Weight { kEcho, kFailure, kDeath };
  enum class Phase { kRunning, kReleasing, kSettling, kConcluding, kEnding, kKilling, kOver };

  bool all_ended() const noexcept { return ended_count_ == records_.size(); }
  bool is_over(bool has_children) const noexcept;
  bool is_release_due() const noexcept;
  bool is_second(const std::string& who, base::TimePoint now, bool was_typed);
  void note_failure(std::size_t rank, Weight weight);
  void end_output(base::TimePoint end);
  void set_signal(int number, const std::string& who);
  void find_cause(base::TimePoint now);
  void conclude(base::TimePoint now);
  void watch_stopped(base::TimePoint now);
  void watch_limits(base::TimePoint now);
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
  std::optional<base::TimePoint> asked_to_end_;      // By somebody, or by a failure.
  std::map<std::string, base::TimePoint> requests_;  // The first of each host.
  base::TimePoint give_up_at_{};  // Of the phase: when to go on without what is waited for.
  std::optional<base::TimePoint> output_end_;
  std::optional<base::TimePoint> next_deadline_;
  Outcome outcome_;
};

}  // namespace rota::launcher
