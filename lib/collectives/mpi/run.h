// Runs collectives of MPI's own: MPI_Iallreduce and its kind, which never block. What an operation
// uses is its communicator, so one of them runs at a time. The bits are those of MPI.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/operation.h"
#include "collectives/running.h"
#include "transport/mpi/world.h"

namespace rota::collectives {

class MpiRun final : public Running {
 public:
  MpiRun(const transport::mpi::World& world, std::size_t first_stream) noexcept
      : world_(world), stream_(first_stream) {}

  void add_streams(const Operation&, Streams& streams) const noexcept override {
    streams.add(stream_);
  }
  void start(const Operation& operation) override;
  Turn step() override;
  // MPI does not tell which rank is missing.
  std::optional<Wait> waiting() const noexcept override;
  void compare_with(std::size_t) const override {}  // The coordinator compares signatures.
  std::string_view keeps_buffers() const noexcept override { return operation_ ? "MPI" : ""; }

 private:
  const Description& call() const noexcept { return operation_->planned->call; }
  bool is_root() const noexcept { return call().root == world_.rank(); }
  std::size_t bytes() const noexcept;
  void move_in_place(std::byte* place, std::size_t bytes) const noexcept;
  const std::byte* scaled_input();
  int begin();
  void check(int error) const;

  const transport::mpi::World& world_;
  std::size_t stream_;
  const Operation* operation_ = nullptr;  // Null unless one is under way.
  transport::mpi::Handle request_ = 0;
  std::vector<std::byte> scaled_;  // A rank's contribution to a pre-scaled reduction.
};

// The method for MPI's collectives on all ranks of an MPI communicator.
class MpiCollectives final : public Method {
 public:
  explicit MpiCollectives(std::shared_ptr<transport::mpi::World> world)
      : world_(std::move(world)) {}

  bool makes(Algorithm algorithm) const noexcept override { return algorithm == Algorithm::kMpi; }
  std::string_view why_not(const Description& call) const noexcept override;
  std::size_t stream_count() const noexcept override { return 1; }
  bool starts_in_order() const noexcept override { return true; }  // MPI matches calls by order.
  std::unique_ptr<Running> make_place(std::size_t, std::size_t first_stream) override {
    return std::make_unique<MpiRun>(*world_, first_stream);
  }

 private:
  std::shared_ptr<transport::mpi::World> world_;
};

}  // namespace rota::collectives
