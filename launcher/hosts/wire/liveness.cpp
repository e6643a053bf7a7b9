// Distinguishes a host that has vanished from a slow one. Without this, a job would wait forever
// for a host that lost its power, or would end when a host is only slow.
#include "launcher/hosts/wire/liveness.h"

namespace rota::launcher {
namespace {

constexpr std::chrono::milliseconds kVanishedAfter{750};
constexpr std::chrono::seconds kSlowAfter{1};
constexpr std::chrono::seconds kSilentAfter{5};

// Two calls of judge() that are farther apart than this show that this launcher was held up.
constexpr std::chrono::milliseconds kOwnPause = 5 * kBeatTime;

}  // namespace

LivenessWatch::Verdict LivenessWatch::judge(base::TimePoint now,
                                            std::optional<base::Duration> unacknowledged) {
  const base::Duration pause = now - judged_at_;
  judged_at_ = now;
  if (pause > kOwnPause) {
    heard_at_ += pause;
    sound_at_ = now;
  }
  if (heard_at_ > now) heard_at_ = now;
  if (!unacknowledged || *unacknowledged < 2 * kBeatTime) sound_at_ = now;
  if (now - sound_at_ >= kVanishedAfter) return Verdict::kVanished;
  if (now - heard_at_ >= kSilentAfter) return Verdict::kSilent;
  return now - heard_at_ >= kSlowAfter ? Verdict::kSlow : Verdict::kFine;
}

}  // namespace rota::launcher
