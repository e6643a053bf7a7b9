// Tells a host that has vanished from one that is slow, and both from a moment in which we were
// held up ourselves. A machine without a clock or a socket.
//
// A kernel that acknowledges nothing belongs to a host that is gone, or cut off. One that
// acknowledges while its launcher says nothing belongs to a host that is overloaded, or throttled
// by its control group, which may pass.
#pragma once
#include <optional>

#include "base/time.h"

namespace rota::launcher {

class SilenceWatch {
 public:
  enum class Verdict { kFine, kSlow, kSilent, kVanished };

  explicit SilenceWatch(base::TimePoint now) : heard_at_(now), sound_at_(now), judged_at_(now) {}

  void on_heard(base::TimePoint now) { heard_at_ = now; }

  // To be asked several times a second, after what has come was read. `unacknowledged`: for how
  // long the peer's kernel has owed an answer; empty where it owes none.
  Verdict judge(base::TimePoint now, std::optional<base::Duration> unacknowledged);

  base::Duration silent_for(base::TimePoint now) const { return now - heard_at_; }

 private:
  base::TimePoint heard_at_;
  base::TimePoint sound_at_;  // The peer's kernel had answered all by then, or just then.
  base::TimePoint judged_at_;
};

// How often each side is to give a sign of life.
inline constexpr std::chrono::milliseconds kBeatTime{100};

}  // namespace rota::launcher
