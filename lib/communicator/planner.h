// Turns calls into operations that can run: checks a call, chooses an algorithm and makes a plan.
// Programs repeat the same calls, so all results are cached.
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
  // Both arguments must outlive the object.
  Planner(const Group& group, const Settings& settings);

  // A call that was examined.
  struct Known {
    std::vector<Values> group;  // The buffers of a grouped call.
    std::uint64_t number = 0;   // Calls examined so far, with this one.
    std::shared_ptr<const collectives::PlannedCollective> planned;
    // The same, if a call with this description and these counts is known to be valid.
    const collectives::PlannedCollective* repeats = nullptr;
    std::size_t value_count = 0;
    std::size_t input_count = 0;
    // With devices, an address may be in other memory than the caller says. Then only addresses of
    // this table pass. Null without devices.
    const KnownAddresses* addresses = nullptr;
    // A group may have more buffers than the table has room for. The addresses of a group pass as
    // long as this is device::freed_count(): until then, no other memory has them.
    std::uint64_t freed_count = 0;
  };

  // Completes `call.what`, and returns the planned call. The result is valid until the next call of
  // plan(). Throws Error kInvalidArgument with a message that tells what does not fit; kNoMemory.
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

  // The buckets of a training step have different counts, and the next step repeats all of them. So
  // calls with different counts should have different places in known_.
  static std::size_t place_of(const collectives::Description& what) noexcept {
    const std::uint64_t mixed = (what.count + 1) * 0x9e3779b97f4a7c15U >> 61;
    return static_cast<std::size_t>(mixed ^ static_cast<std::uint64_t>(what.collective)) % kPlaces;
  }

  // Returns whether describe() would return the same result for `call` as for the known call. Makes
  // only a few comparisons, and returns false if these do not suffice.
  static bool is_again(const Call& call, const Known& known) noexcept {
    return known.repeats && call.what == known.repeats->call && is_plain(call) &&
           (!call.values || call.values->count() == known.value_count) &&
           (!call.input || call.input->count() == known.input_count) &&
           call.group.size() == known.group.size() &&
           (!known.addresses || has_addresses_of(known, call)) &&
           (call.group.empty() || are_same(call.group, known.group));
  }
  // Not inline, so that calls without devices save no registers for it.
  static bool has_addresses_of(const Known& known, const Call& call) noexcept;

  void examine(const Call& call, Known& known);
  PlannedPtr planned_for(const Call& call, const collectives::Description& what);
  Codec codec_for(const collectives::Description& call) const noexcept;
  collectives::Choice choice_for(const collectives::Description& call) const noexcept;
  std::size_t method_of(collectives::Algorithm algorithm) const noexcept;
  std::size_t method_for(const collectives::Description& chosen) const;
  bool library_runs(const collectives::Description& call) const noexcept;
  PlannedPtr make(const Call& call, const collectives::Description& what,
                  const collectives::Description& chosen) const;
  void make_plan(const Call& call, const collectives::Description& chosen,
                 collectives::PlannedCollective& planned) const;
  void allocate_on_host(collectives::PlannedCollective& planned, std::size_t element_bytes) const;
  static void allocate_on_device(collectives::PlannedCollective& planned,
                                 std::size_t element_bytes);
  void say_once(const collectives::Description& call, const char* why);

  const Group& group_;
  const Settings& settings_;
  collectives::Surroundings world_;
  std::array<Known, kPlaces> known_{};  // The last calls; two places for each place_of().
  std::unordered_map<collectives::Description, PlannedPtr, Hash> planned_;
  KnownAddresses addresses_;       // Used if there is a library for devices.
  std::vector<std::string> said_;  // The choices that rank 0 has printed.
  std::uint64_t examined_ = 0;     // Calls examined.
};

}  // namespace rota
