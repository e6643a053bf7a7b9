// From what a caller asks for to what can run: a call is examined, an algorithm chosen, a plan
// made. Programs make the same calls again and again, so all of it is kept.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <rota/values.h>

#include "collectives/choice.h"
#include "communicator/call.h"
#include "communicator/group.h"
#include "communicator/plan_cache.h"
#include "communicator/settings.h"

namespace rota {

class Planner {
 public:
  // Both outlive it.
  Planner(const Group& group, const Settings& settings);

  // The last call of a collective.
  struct Known {
    Call call;  // Its addresses may be anything by now, but for those of
    std::vector<Values> group;
    std::uint64_t number = 0;  // The how-manieth that was examined.
    std::shared_ptr<const PlannedCollective> planned;
  };

  // Valid until the next call of the same collective. Throws Error kInvalidArgument with a sentence
  // that says what does not fit; kNoMemory.
  const Known& plan(const Call& call) {
    Known& known = known_[static_cast<std::size_t>(call.collective)];
    if (!known.planned || !is_again(call, known.call)) examine(call, known);
    return known;
  }

 private:
  void examine(const Call& call, Known& known);
  Codec codec_for(const collectives::Description& call) const noexcept;
  collectives::Choice choice_for(const collectives::Description& call) const noexcept;
  std::shared_ptr<const PlannedCollective> make(const Call& call,
                                                const collectives::Description& description) const;
  void say_once(const collectives::Description& call, const char* why);

  const Group& group_;
  const Settings& settings_;
  collectives::Surroundings world_;
  PlanCache plans_;
  std::array<Known, collectives::kCollectives> known_{};  // Of each, the last call.
  std::vector<std::string> said_;                         // What rank 0 has said of its choices.
  std::uint64_t examined_ = 0;                            // Calls.
};

}  // namespace rota
