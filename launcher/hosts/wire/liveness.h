// Distinguishes a host that has vanished from a slow one, and both from a moment in which this
// launcher itself was held up. LivenessWatch is a state machine that uses neither a clock nor a
// socket.
//
// If the peer's kernel acknowledges nothing, its host is gone or cut off. If the kernel
// acknowledges but the launcher says nothing, its host is overloaded, or throttled by its control
// group. Such a state may pass.
#pragma once
#include <optional>

#include "base/time.h"

namespace rota::launcher {

class LivenessWatch {
 public:
  enum class Verdict { kFine, kSlow, kSilent, kVanished };

  explicit LivenessWatch(base::TimePoint now) : heard_at_(now), sound_at_(now), judged_at_(now) {}

  void on_heard(base::TimePoint now) { heard_at_ = now; }

  // Returns the verdict. Call it several times a second, after reading what has come.
  // `unacknowledged`: for how long the peer's kernel has owed an acknowledgement; empty if it owes
  // none.
  Verdict judge(base::TimePoint now, std::optional<base::Duration> unacknowledged);

  base::Duration silent_for(base::TimePoint now) const { return now - heard_at_; }

 private:
  base::TimePoint heard_at_;
  // When the peer's kernel last owed no acknowledgement, or owed one only briefly.
  base::TimePoint sound_at_;
  base::TimePoint judged_at_;
};

// How often each side sends a heartbeat.
inline constexpr std::chrono::milliseconds kBeatTime{100};

}  // namespace rota::launcher
