// From what a caller asks for to what can run: a call is examined, an algorithm chosen, a plan
// made. Programs make the same calls again and again, so all of it is kept.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <rota/values.h>

#include "collectives/choice.h"
#include "collectives/planned.h"
#include "communicator/call.h"
#include "communicator/group.h"
#include "communicator/packing.h"
#include "communicator/settings.h"

namespace rota {

class Planner {
 public:
  // Both outlive it.
  Planner(const Group& group, const Settings& settings);

  // A call that was looked at.
  struct Known {
    std::vector<Values> group;  // Its buffers, where it has several.
    std::uint64_t number = 0;   // The how-manieth that was examined.
    std::shared_ptr<const collectives::PlannedCollective> planned;
  };

  // Makes what `call` says of itself complete. Valid until the next call. Throws Error
  // kInvalidArgument with a sentence that says what does not fit; kNoMemory.
  const Known& plan(Call& call) {
    call.look_at_buffers();
    const std::size_t place = place_of(call.what);
    Known& first = known_[place];
    if (is_again(call, first)) return first;
    Known& second = known_[place ^ 1];
    if (is_again(call, second)) return second;
    Known& older = first.number < second.number ? first : second;
    examine(call, older);
    return older;
  }

 private:
  static constexpr std::size_t kPlaces = 8;

  using PlannedPtr = std::shared_ptr<const collectives::PlannedCollective>;
  struct Hash {
    std::size_t operator()(const collectives::Description& call) const noexcept {
      return collectives::hash_of(call);
    }
  };

  // Buckets of a training step have different counts, and all of them come again.
  static std::size_t place_of(const collectives::Description& what) noexcept {
    const std::uint64_t mixed = (what.count + 1) * 0x9e3779b97f4a7c15U >> 61;
    return static_cast<std::size_t>(mixed ^ static_cast<std::uint64_t>(what.collective)) % kPlaces;
  }

  // Whether describe() would say of it what it said of the one that is known, by a few looks. False
  // where that would take more.
  static bool is_again(const Call& call, const Known& known) noexcept {
    return known.planned && call.what == known.planned->call && is_plain(call) &&
           (!call.values || call.values->bytes() == known.planned->value_bytes) &&
           (!call.input || call.input->bytes() == known.planned->input_bytes) &&
           call.group.size() == known.group.size() &&
           (call.group.empty() || are_same(call.group, known.group));
  }

  void examine(const Call& call, Known& known);
  PlannedPtr planned_for(const Call& call, const collectives::Description& what);
  Codec codec_for(const collectives::Description& call) const noexcept;
  collectives::Choice choice_for(const collectives::Description& call) const noexcept;
  PlannedPtr make(const Call& call, const collectives::Description& what,
                  const collectives::Description& chosen) const;
  void make_plan(const Call& call, const collectives::Description& chosen,
                 collectives::PlannedCollective& planned) const;
  void say_once(const collectives::Description& call, const char* why);

  const Group& group_;
  const Settings& settings_;
  collectives::Surroundings world_;
  std::array<Known, kPlaces> known_{};  // The last calls, two by two as place_of() says.
  std::unordered_map<collectives::Description, PlannedPtr, Hash> planned_;
  std::vector<std::string> said_;  // What rank 0 has said of its choices.
  std::uint64_t examined_ = 0;     // Calls.
};

}  // namespace rota
