// Values of a rank that a test puts into host memory or onto the fake device.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "testing/error_of.h"
#include "testing/fake_device.h"
#include "testing/on_every_rank.h"

namespace rota::testing {

// The values of a rank in host memory or on a device.
template <class T>
class Placed {
 public:
  Placed(FakeDevice& fake, std::optional<std::uint8_t> device, std::vector<T> values)
      : fake_(fake), device_(device), in_host_(std::move(values)) {
    if (!device_) return;
    block_ = allocate_device(in_host_.size() * sizeof(T), *device_);
    fake_.write(on_device(), in_host_);
  }
  Values values() { return device_ ? Values(on_device()) : Values(in_host_); }
  std::vector<T> now() { return device_ ? fake_.read(on_device()) : in_host_; }
  DeviceSpan<T> on_device() const { return block_.as<T>().first(in_host_.size()); }

 private:
  FakeDevice& fake_;
  std::optional<std::uint8_t> device_;
  std::vector<T> in_host_;
  DeviceBlock block_;
};

using DeviceOf = std::function<std::optional<std::uint8_t>(std::size_t rank)>;

// Lets rank 1 spoil a call. Expects that the call fails on every rank: with `code` on rank 1, and
// elsewhere with the same text.
inline void expect_errors(std::vector<Communicator>& world, FakeDevice& fake,
                          const DeviceOf& device_of, std::size_t count,
                          const std::function<void()>& spoil, ErrorCode code,
                          const std::string& text) {
  on_every_rank(world, [&](Communicator& comm) {
    Placed<float> own(fake, device_of(comm.rank()), std::vector<float>(count, 1.0F));
    const auto error = error_of([&] {
      comm.barrier();
      if (comm.rank() == 1) {
        spoil();
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));  // Their deadlines are later.
      }
      comm.all_reduce(own.values(), ReduceOp::kSum);
      if (comm.rank() != 1) comm.barrier();  // Rank 1 may fail after all others are done.
    });
    ASSERT_TRUE(error) << "rank " << comm.rank();
    EXPECT_EQ(error->code(), comm.rank() == 1 ? code : ErrorCode::kAborted) << error->what();
    EXPECT_EQ(error->blamed_rank().value_or(1), 1U) << error->what();
    EXPECT_NE(std::string(error->what()).find(text), std::string::npos)
        << "rank " << comm.rank() << ": " << error->what();
  });
}

}  // namespace rota::testing
