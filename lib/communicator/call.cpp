// Checks the arguments of a call, and writes the message of each refusal.
#include "communicator/call.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include <rota/error.h>

#include "base/counted.h"
#include "collectives/plan.h"
#include "device/calls.h"
#include "memory/kind.h"

namespace rota {
namespace {

using collectives::Collective;
using collectives::Description;

// More bytes would cost instructions in every call.
static_assert(sizeof(Values) == 2 * sizeof(void*) + 8 && sizeof(ConstValues) == sizeof(Values));

class Examiner {
 public:
  Examiner(const Call& call, std::size_t rank, std::size_t world_size, KnownAddresses* known)
      : call_(call), asked_(call.what), rank_(rank), n_(world_size), known_(known) {}

  Description describe() {
    if (asked_.root >= n_) {
      refuse((is_between_two(asked_.collective) ? "rank " : "root ") + std::to_string(asked_.root) +
             " is outside of the world of " + std::to_string(n_));
    }
    if (is_between_two(asked_.collective) && asked_.root == rank_) {
      refuse("rank " + std::to_string(rank_) + " is this rank itself");
    }
    look_at_buffers();
    look_at_parts();
    if (collectives::reduces(asked_.collective)) {
      const std::string_view why = why_not(asked_.reduction, asked_.type);
      if (!why.empty()) refuse(std::string(why));
      look_at_codec();
    }
    return asked_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    const char* suffix = asked_.uneven ? "_v: " : ": ";
    throw Error(ErrorCode::kInvalidArgument,
                std::string(to_string(asked_.collective)) + suffix + why);
  }

  bool is_root() const { return rank_ == asked_.root; }

  void look_at(const char* name, const ConstValues& values) const {
    if (values.count() > 0 && !values.data()) refuse(std::string(name) + "'s address is null");
    const std::size_t bytes = bytes_of(values.type());  // A power of two: no division is needed.
    if ((reinterpret_cast<std::uintptr_t>(values.data()) & (bytes - 1)) != 0) {
      refuse(std::string(name) + "'s address is not aligned for " +
             std::string(to_string(values.type())));
    }
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
    if (values.count() > kMost >> std::countr_zero(bytes)) {
      refuse(std::string(name) + " is longer than the address space");
    }
    if (!device::calls_in_use() || (known_ && known_->knows(values))) return;
    look_where(name, "'s address is", values.data(), values.memory());
    look_where(name, "'s last byte is", values.data() + values.bytes() - 1, values.memory());
    if (known_) known_->add(values);
  }

  // Compares the memory that the caller says with the memory that an address belongs to. `is` ends
  // with a verb.
  void look_where(const char* name, const char* is, const std::byte* address,
                  MemoryKind said) const {
    cuda::Memory memory = cuda::Memory::kHost;
    std::uint8_t device = 0;
    const int error = device::calls().find_memory(address, memory, device);
    if (error == device::kNotSupported && !said.is_host()) {
      refuse(std::string(name) + is +
             " in managed memory, which CUDA moves between the host and devices: use memory of "
             "allocate_device() or cudaMalloc()");
    }
    if (!said.is_host()) device::check(error, said.device(), "the search for an address");
    if (error != 0) return;  // Values in host memory need no device.
    const MemoryKind found =
        memory == cuda::Memory::kDevice ? MemoryKind::of_device(device) : MemoryKind();
    if (found == said) return;
    refuse(std::string(name) + is + " in " + memory::to_text(found) + ", and not in " +
           memory::to_text(said) + " as the caller says");
  }

  void look_at_buffers() {
    const bool has_none = !call_.values && !call_.input && call_.group.empty();
    if (has_none && asked_.collective == Collective::kAllReduce) refuse("the group has no buffer");
    if (call_.values) look_at("the output", *call_.values);
    if (call_.input) look_at("the input", *call_.input);
    for (const Values& values : call_.group) look_at("a buffer of the group", values);
    if (call_.values && call_.input && call_.values->count() > 0 &&
        call_.values->type() != call_.input->type()) {
      refuse("the input is " + std::string(to_string(call_.input->type())) +
             ", but the output is " + std::string(to_string(call_.values->type())));
    }
    look_at_memory();
    for (const Values& values : call_.group) {
      if (values.type() != call_.group.front().type()) {
        refuse("the buffers of a group must have one type; here are " +
               std::string(to_string(call_.group.front().type())) + " and " +
               std::string(to_string(values.type())));
      }
    }
    if (call_.input) asked_.type = call_.input->type();
  }

  // A rank's buffers of one call lie in one memory. Other ranks may use other memory.
  void look_at_memory() {
    if (call_.input && values_count() == 0) {
      asked_.memory = call_.input->memory();
    } else if (input_count() > 0) {
      expect_memory("the input", call_.input->memory(), "the output is", call_.values->memory());
    }
    if (call_.feedback && call_.values) {
      expect_memory("the feedback", call_.feedback->memory(), "the values are",
                    call_.values->memory());
    }
    for (const Values& values : call_.group) {
      expect_memory("a buffer of the group", values.memory(), "its first buffer is",
                    call_.group.front().memory());
    }
  }

  // Expects one memory. `but` ends with a verb: "the output is".
  void expect_memory(const char* name, MemoryKind memory, const char* but, MemoryKind other) const {
    if (memory == other) return;
    refuse(std::string(name) + " is in " + memory::to_text(memory) + ", but " + but + " in " +
           memory::to_text(other) + "; a rank's buffers of one call lie in one memory");
  }

  void look_at_codec() const {
    const bool codes = asked_.codec != Codec::kIdentity;
    if (codes && asked_.collective != Collective::kAllReduce) refuse("codecs are for all_reduce");
    if (!call_.feedback) return;
    if (!codes) refuse("a feedback needs a codec that loses precision");
    look_at("the feedback", *call_.feedback);
    if (call_.feedback->type() != DataType::kFloat32) refuse("the feedback is not float32");
    expect("the feedback", call_.feedback->count(), asked_.count);
    const std::byte* lost = call_.feedback->data();
    const std::byte* values = call_.values->data();
    if (lost < values + call_.values->bytes() && values < lost + call_.feedback->bytes()) {
      refuse("the feedback overlaps the values");
    }
  }

  std::size_t values_count() const { return call_.values ? call_.values->count() : 0; }
  std::size_t input_count() const { return call_.input ? call_.input->count() : 0; }

  void expect(const char* name, std::size_t count, std::size_t expected) const {
    if (count == expected) return;
    refuse(std::string(name) + " has " + std::to_string(count) + " elements; expected " +
           std::to_string(expected));
  }

  std::size_t sum_of(const char* name, std::span<const std::size_t> counts) const {
    if (counts.size() != n_) {
      refuse(std::string(name) + " have " + std::to_string(counts.size()) +
             " entries; expected one for each of " + base::counted_ranks(n_));
    }
    std::size_t sum = 0;
    for (const std::size_t count : counts) {
      if (count > std::numeric_limits<std::ptrdiff_t>::max() - sum) {
        refuse(std::string(name) + " add up to more than the address space");
      }
      sum += count;
    }
    return sum;
  }

  // Returns the count of all parts together, if each rank has one of `count` elements.
  std::size_t count_of_parts(std::size_t count) const {
    if (count > std::numeric_limits<std::ptrdiff_t>::max() / n_) {
      refuse("the parts of all ranks add up to more than the address space");
    }
    return count * n_;
  }

  Slice own_part() const { return collectives::part_of(call_.counts, asked_.count, rank_, n_); }

  // The input and the output must not overlap. Exception: if `place` is given, the smaller buffer
  // may be exactly this slice of the larger buffer. Then the call is in place.
  void look_for_overlap(std::optional<Slice> place = std::nullopt) {
    if (!call_.input || !call_.values || values_count() == 0 || input_count() == 0) return;
    const std::byte* input = call_.input->data();
    const std::byte* values = call_.values->data();
    const bool values_are_larger = values_count() >= input_count();
    if (place) {
      const std::size_t offset = place->offset * bytes_of(asked_.type);
      if (values_are_larger ? input == values + offset : values == input + offset) {
        asked_.in_place = true;
        return;
      }
    }
    if (input < values + call_.values->bytes() && values < input + call_.input->bytes()) {
      refuse("the input overlaps the output; the form with one argument works in place");
    }
  }

  void look_at_parts() {
    switch (asked_.collective) {
      case Collective::kAllReduce:
      case Collective::kBroadcast:
      case Collective::kReceive:
        if (call_.input) expect("the input", input_count(), values_count());
        return look_for_overlap();
      case Collective::kReduce:
        asked_.count = call_.input ? input_count() : values_count();
        if (is_root()) expect("the output", values_count(), asked_.count);
        return is_root() ? look_for_overlap() : void();
      case Collective::kReduceScatter:
        return look_at_reduce_scatter();
      case Collective::kAllGather:
        return look_at_all_gather();
      case Collective::kGather:
        return look_at_gather();
      case Collective::kScatter:
        return look_at_scatter();
      case Collective::kAllToAll:
        return look_at_all_to_all();
      case Collective::kSend:
      case Collective::kBarrier:
        return;
    }
  }

  void look_at_reduce_scatter() {
    asked_.count = call_.input ? input_count() : values_count();
    if (asked_.uneven) {
      expect(call_.input ? "the input" : "the values", asked_.count,
             sum_of("the counts", call_.counts));
    }
    if (call_.input) expect("the output", values_count(), own_part().count);
    look_for_overlap();
  }

  void look_at_all_gather() {
    asked_.count = values_count();
    if (asked_.uneven) {
      expect("the output", values_count(), sum_of("the counts", call_.counts));
    }
    const Slice own = own_part();
    if (call_.input) expect("the part", input_count(), own.count);
    look_for_overlap(own);
  }

  void look_at_gather() {
    asked_.count =
        asked_.uneven ? sum_of("the counts", call_.counts) : count_of_parts(input_count());
    const Slice own = own_part();
    expect("the part", input_count(), own.count);
    if (!is_root()) return;
    expect("the output", values_count(), asked_.count);
    look_for_overlap(own);
  }

  void look_at_scatter() {
    asked_.count =
        asked_.uneven ? sum_of("the counts", call_.counts) : count_of_parts(values_count());
    const Slice own = own_part();
    expect("the part", values_count(), own.count);
    asked_.type = call_.values->type();
    if (!is_root()) return;
    expect("the input", input_count(), asked_.count);
    look_for_overlap(own);
  }

  void look_at_all_to_all() {
    if (asked_.uneven) {
      asked_.count = sum_of("the send counts", call_.counts);
      expect("the input", input_count(), asked_.count);
      expect("the output", values_count(), sum_of("the receive counts", call_.receive_counts));
    } else {
      asked_.count = values_count();
      if (call_.input) expect("the input", input_count(), values_count());
      if (asked_.count % n_ != 0) {
        refuse(std::to_string(asked_.count) + " elements cannot be divided equally among " +
               std::to_string(n_) + " ranks; all_to_all_v takes unequal parts");
      }
    }
    look_for_overlap();
  }

  const Call& call_;
  Description asked_;
  std::size_t rank_;
  std::size_t n_;
  KnownAddresses* known_;
};

}  // namespace

Description describe(const Call& call, std::size_t rank, std::size_t world_size,
                     KnownAddresses* known) {
  return Examiner(call, rank, world_size, known).describe();
}

}  // namespace rota
