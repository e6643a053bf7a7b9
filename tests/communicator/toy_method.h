// A toy method, which the library does not know. Each of its operations ends after a given number
// of steps, and does not change its values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <rota/error.h>

#include "collectives/running.h"

namespace rota::testing {

// The properties of the toy method, and a record of its calls. A test may change the properties at
// any time.
struct ToyManner {
  bool in_order = false;
  bool own_streams = false;              // Each operation has a stream of its own, not the call's.
  bool is_held = false;                  // No operation moves.
  bool host_reads = true;                // The host may read an operation's values.
  MemoryKind memory{};                   // The memory of its values.
  std::string_view one_thread{};         // The part that only one thread may use.
  std::span<const std::byte> reached{};  // What memory_of_parts() returns.
  std::optional<ErrorCode> staging_error{};  // What the preparation for values on a device throws.
  std::size_t made_ready = 0;                // How often the method was made ready.
  const collectives::Operation* started = nullptr;  // The operation that was started last.
};

// A toy operation. The call's count is the operation's number of steps, and the call's root is its
// stream.
class ToyRun final : public collectives::Running {
 public:
  ToyRun(ToyManner& manner, std::size_t place, std::size_t first_stream)
      : manner_(manner), place_(place), first_stream_(first_stream) {}

  void add_streams(const collectives::Operation& operation,
                   collectives::Streams& streams) const noexcept override {
    streams.add(first_stream_ + (manner_.own_streams ? place_ : operation.planned->call.root));
  }
  void start(const collectives::Operation& operation) override {
    manner_.started = &operation;
    left_ = operation.planned->call.count;
  }
  collectives::Turn step() override {
    if (manner_.is_held) return collectives::Turn::kNothing;
    --left_;
    return left_ == 0 ? collectives::Turn::kDone : collectives::Turn::kMoved;
  }
  std::optional<collectives::Wait> waiting() const noexcept override { return std::nullopt; }
  void compare_with(std::size_t) const override {}

 private:
  ToyManner& manner_;
  std::size_t place_;
  std::size_t first_stream_;
  std::size_t left_ = 0;
};

// Replaces the plan star, so a test gets the toy method by the name star.
class Toys final : public collectives::Method {
 public:
  // `manner` must outlive the object.
  explicit Toys(ToyManner& manner) : manner_(manner) {}

  bool makes(collectives::Algorithm algorithm) const noexcept override {
    return algorithm == collectives::Algorithm::kStar;
  }
  bool takes(MemoryKind memory) const noexcept override { return memory == manner_.memory; }
  std::span<const std::byte> memory_of_parts(std::size_t) const noexcept override {
    return manner_.reached;
  }
  bool host_reads_values() const noexcept override { return manner_.host_reads; }
  std::string_view one_thread() const noexcept override { return manner_.one_thread; }
  bool make_ready() noexcept override {
    ++manner_.made_ready;
    return true;
  }
  std::byte* make_staging(const collectives::PlannedCollective&, std::uint64_t,
                          std::uint64_t) override {
    if (manner_.staging_error) throw Error(*manner_.staging_error, "the device of the toy");
    return nullptr;
  }
  bool starts_in_order() const noexcept override { return manner_.in_order; }
  std::size_t stream_count() const noexcept override { return collectives::kMostRunning; }
  std::unique_ptr<collectives::Running> make_place(std::size_t place, std::size_t first) override {
    return std::make_unique<ToyRun>(manner_, place, first);
  }

 private:
  ToyManner& manner_;
};

}  // namespace rota::testing
