// Divides the time of a rank's steps into computing and waiting.
#include <rota/rank_seconds.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace rota {

void RankSecondsCounter::leave(const Reading& now) noexcept {
  spent_.in_all += now.in_all - since_.in_all;
  spent_.wait += now.wait - since_.wait;
  spent_.checkpoint += now.checkpoint - since_.checkpoint;
  since_ = now;
}

// A clock rounds, so the parts may be more than the whole.
RankSeconds RankSecondsCounter::take(const Reading& now) noexcept {
  ROTA_ASSERT(steps_ > 0);
  leave(now);
  const auto steps = static_cast<double>(std::exchange(steps_, 0));
  const Reading spent = std::exchange(spent_, {});
  return {.compute = std::max(0.0, spent.in_all - spent.wait - spent.checkpoint) / steps,
          .wait = spent.wait / steps,
          .checkpoint = spent.checkpoint / steps};
}

}  // namespace rota
