// Connects ranks over MPI. MPI wakes no thread, so a rank that waits polls, and naps in between.
// MPI does not show that a peer has failed: ranks learn that from the coordinator.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <span>

#include "transport/fabric.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/world.h"
#include "transport/transport.h"

namespace rota::transport::mpi {

class Transport final : public transport::Transport {
 public:
  // `ends`: index = peer; the rank's own entry is never used.
  Transport(std::shared_ptr<World> world, std::span<const MpiChannel::Ends> ends);
  // Cancels what is under way.
  ~Transport() override;

  std::string_view name() const noexcept override { return "mpi"; }
  WaitTraits wait_traits() const noexcept override;
  transport::Channel& channel(std::size_t peer) noexcept override { return (*channels_)[peer]; }
  void sleep(base::Duration at_most) override;
  void wake() noexcept override {}  // A nap is too short to be ended.
  // MPI does not show the loss, but what a peer sent before it left may still be on its way.
  bool ends_by_itself(std::size_t) const noexcept override { return true; }
  std::unique_ptr<Fabric> group_fabric(const GroupShape& shape) override;
  Block allocate(std::size_t bytes) override;
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;  // Bytes that arrived to be reduced.
  void abort(const Cause& cause) noexcept override;
  bool broken() const noexcept override { return false; }
  std::optional<Cause> aborted() override { return std::nullopt; }  // MPI carries no cause.
  std::string_view keeps_buffers() const noexcept override { return keeps_buffers_ ? "MPI" : ""; }

 private:
  bool cancel_all() noexcept;

  std::shared_ptr<World> world_;
  // MPI may write to a channel until its receives have ended. If they do not end, the channels are
  // never freed.
  std::unique_ptr<std::deque<MpiChannel>> channels_;
  bool keeps_buffers_ = false;
};

// Makes the transport of the group that has all ranks of `world`. Must be called once for each
// world, and before other groups are made.
std::unique_ptr<Transport> transport_of_all(std::shared_ptr<World> world);

}  // namespace rota::transport::mpi
