// A communicator that makes every collective on values of a fake device: it moves the values of a
// call there, and back afterwards. Each rank has the device with its number.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "testing/fake_device.h"

namespace rota::testing {

// The fake device of the test that runs.
inline FakeDevice* fake_device = nullptr;

inline constexpr int kFakeDevices = 8;

template <class T>
class OnDevice {
 public:
  using Counts = std::vector<std::size_t>;

  explicit OnDevice(Communicator& comm) : comm_(comm) {}

  void all_reduce(Values values, Reduction reduction) {
    There all(*this, values);
    comm_.all_reduce(all.values(), reduction);
    all.give_back();
  }
  void all_reduce(ConstValues input, Values output, Reduction reduction) {
    There in(*this, input);
    There out(*this, output);
    comm_.all_reduce(in.input(), out.values(), reduction);
    out.give_back();
    in.give_back();
  }
  void all_reduce(std::initializer_list<Values> group, Reduction reduction) {
    all_reduce(std::span(group.begin(), group.size()), reduction);
  }
  // The parts of a group lie apart from each other in one block.
  void all_reduce(std::span<const Values> group, Reduction reduction) {
    std::vector<There> there;
    std::vector<Values> parts;
    for (const Values& part : group) {
      there.emplace_back(*this, part);
      parts.push_back(there.back().values());
    }
    comm_.all_reduce(parts, reduction);
    for (There& part : there) part.give_back();
  }

  void reduce(Values values, std::size_t root, Reduction reduction) {
    There all(*this, values);
    comm_.reduce(all.values(), root, reduction);
    all.give_back();
  }
  void reduce(ConstValues input, Values output, std::size_t root, Reduction reduction) {
    There in(*this, input);
    There out(*this, output);
    comm_.reduce(in.input(), out.values(), root, reduction);
    out.give_back();
    in.give_back();
  }

  void reduce_scatter(Values values, Reduction reduction) {
    There all(*this, values);
    comm_.reduce_scatter(all.values(), reduction);
    all.give_back();
  }
  void reduce_scatter(ConstValues input, Values output, Reduction reduction) {
    There in(*this, input);
    There out(*this, output);
    comm_.reduce_scatter(in.input(), out.values(), reduction);
    out.give_back();
    in.give_back();
  }
  void reduce_scatter_v(Values values, const Counts& counts, Reduction reduction) {
    There all(*this, values);
    comm_.reduce_scatter_v(all.values(), counts, reduction);
    all.give_back();
  }
  void reduce_scatter_v(ConstValues input, Values output, const Counts& counts,
                        Reduction reduction) {
    There in(*this, input);
    There out(*this, output);
    comm_.reduce_scatter_v(in.input(), out.values(), counts, reduction);
    out.give_back();
  }

  void all_gather(Values values) {
    There all(*this, values);
    comm_.all_gather(all.values());
    all.give_back();
  }
  void all_gather(ConstValues part, Values all) {
    There out(*this, all);
    if (part.data() >= all.data() && part.data() < all.data() + all.bytes()) {
      comm_.all_gather(out.part(part), out.values());  // In its place there as well.
    } else {
      There in(*this, part);
      comm_.all_gather(in.input(), out.values());
    }
    out.give_back();
  }
  void all_gather_v(Values values, const Counts& counts) {
    There all(*this, values);
    comm_.all_gather_v(all.values(), counts);
    all.give_back();
  }
  void all_gather_v(ConstValues part, Values all, const Counts& counts) {
    There in(*this, part);
    There out(*this, all);
    comm_.all_gather_v(in.input(), out.values(), counts);
    out.give_back();
  }

  void gather(ConstValues part, Values all, std::size_t root) {
    There in(*this, part);
    There out(*this, all);
    comm_.gather(in.input(), out.values(), root);
    out.give_back();
  }
  void gather_v(ConstValues part, Values all, const Counts& counts, std::size_t root) {
    There in(*this, part);
    There out(*this, all);
    comm_.gather_v(in.input(), out.values(), counts, root);
    out.give_back();
  }
  void scatter(ConstValues all, Values part, std::size_t root) {
    There in(*this, all);
    There out(*this, part);
    comm_.scatter(in.input(), out.values(), root);
    out.give_back();
  }
  void scatter_v(ConstValues all, Values part, const Counts& counts, std::size_t root) {
    There in(*this, all);
    There out(*this, part);
    comm_.scatter_v(in.input(), out.values(), counts, root);
    out.give_back();
  }

  void all_to_all(Values values) {
    There all(*this, values);
    comm_.all_to_all(all.values());
    all.give_back();
  }
  void all_to_all(ConstValues input, Values output) {
    There in(*this, input);
    There out(*this, output);
    comm_.all_to_all(in.input(), out.values());
    out.give_back();
  }
  void all_to_all_v(ConstValues input, const Counts& send_counts, Values output,
                    const Counts& receive_counts) {
    There in(*this, input);
    There out(*this, output);
    comm_.all_to_all_v(in.input(), send_counts, out.values(), receive_counts);
    out.give_back();
  }

  void broadcast(Values values, std::size_t root) {
    There all(*this, values);
    comm_.broadcast(all.values(), root);
    all.give_back();
  }

 private:
  // A copy of host values on the rank's device.
  class There {
   public:
    There(const OnDevice& owner, ConstValues here)
        : here_(here),
          block_(allocate_device(here.bytes(),
                                 static_cast<std::uint8_t>(owner.comm_.rank() % kFakeDevices))),
          device_(static_cast<std::uint8_t>(owner.comm_.rank() % kFakeDevices)) {
      fake_device->write(span(), host());
    }

    Values values() const { return span(); }
    ConstValues input() const { return DeviceSpan<const T>(span()); }
    ConstValues part(ConstValues own) const {
      const auto offset = static_cast<std::size_t>(own.data() - here_.data()) / sizeof(T);
      return DeviceSpan<const T>(span().subspan(offset, own.count()));
    }
    // Also shows whether an input has changed.
    void give_back() const {
      const std::vector<T> values = fake_device->read(span());
      std::copy(values.begin(), values.end(),
                reinterpret_cast<T*>(const_cast<std::byte*>(here_.data())));
    }

   private:
    DeviceSpan<T> span() const { return {block_.as<T>().address(), here_.count(), device_}; }
    std::vector<T> host() const {
      const T* first = reinterpret_cast<const T*>(here_.data());
      return {first, first + here_.count()};
    }

    ConstValues here_;
    DeviceBlock block_;
    std::uint8_t device_;
  };

  Communicator& comm_;
};

}  // namespace rota::testing
