// Operations of a toy kind, which the library does not know: each finishes after as many steps as
// it says, and leaves its values alone.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>

#include "collectives/running.h"

namespace rota::testing {

inline constexpr std::size_t kToyStreams = 3;

// Its call's count: its steps; its root: its stream.
class ToyRun final : public collectives::Running {
 public:
  explicit ToyRun(std::size_t first_stream) : first_stream_(first_stream) {}

  void add_streams(const collectives::Operation& operation,
                   collectives::Streams& streams) const noexcept override {
    streams.add(first_stream_ + operation.planned->call.root);
  }
  void start(const collectives::Operation& operation) override {
    left_ = operation.planned->call.count;
  }
  collectives::Turn step() override {
    --left_;
    return left_ == 0 ? collectives::Turn::kDone : collectives::Turn::kMoved;
  }
  std::optional<collectives::Wait> waiting() const noexcept override { return std::nullopt; }
  void compare_with(std::size_t) const override {}

 private:
  std::size_t first_stream_;
  std::size_t left_ = 0;
};

class Toys final : public collectives::Method {
 public:
  bool in_order = false;

  bool starts_in_order() const noexcept override { return in_order; }
  std::size_t stream_count() const noexcept override { return kToyStreams; }
  std::unique_ptr<collectives::Running> make_place(std::size_t, std::size_t first) override {
    return std::make_unique<ToyRun>(first);
  }
};

}  // namespace rota::testing
