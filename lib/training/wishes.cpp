// Notes what a hook or a session asks for, until the training loop takes it.
#include <rota/error.h>
#include <rota/training_wishes.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/number_text.h"

namespace rota {

Wisher::~Wisher() = default;

// Of two wishes the earlier stop counts, so its reason counts too.
void Wisher::ask_to_stop(std::string why, std::uint64_t after_step) {
  if (wishes_.stop && stop_after_ <= after_step) return;
  stop_after_ = after_step;
  why_stop_ = std::move(why);
  wishes_.stop = true;
}

void Wisher::ask_for_checkpoint() noexcept { wishes_.checkpoint = true; }

void Wisher::ask_to_keep() noexcept {
  wishes_.checkpoint = true;
  wishes_.best = true;
}

void Wisher::ask_to_keep(std::uint64_t step) noexcept { wishes_.kept_step = step; }

void Wisher::ask_for_learning_rate(double factor) {
  if (!(factor > 0 && factor <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "a hook asks for " + base::shortest_text(factor) +
                    " times the learning rate: expected more than 0, and at most 1");
  }
  wishes_.learning_rate_factor = std::min(wishes_.learning_rate_factor, factor);
}

void Wisher::ask_for_rank_seconds(std::uint64_t every_steps) {
  if (every_steps == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "a hook asks for the seconds of ranks every 0 steps: expected 1 or more");
  }
  rank_seconds_every_ = every_steps;
}

}  // namespace rota
