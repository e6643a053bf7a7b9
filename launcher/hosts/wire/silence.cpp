// Tells a host that has vanished from one that is slow.
#include "launcher/hosts/wire/silence.h"

namespace rota::launcher {
namespace {

constexpr std::chrono::milliseconds kVanishedAfter{750};
constexpr std::chrono::seconds kSlowAfter{1};
constexpr std::chrono::seconds kSilentAfter{5};

// Two questions farther apart than this say that we were held up.
constexpr std::chrono::milliseconds kOwnPause = 5 * kBeatTime;

}  // namespace

SilenceWatch::Verdict SilenceWatch::judge(base::TimePoint now,
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
