// Has one channel per peer, and the fabric of further groups, whose ranks find each other by tags.
#include "transport/mpi/transport.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "memory/host_block.h"
#include "memory/kept.h"

namespace rota::transport::mpi {
namespace {

// A waiting rank looks again after this time: MPI moves data only while somebody calls it.
constexpr std::chrono::microseconds kNap{50};

// How often a cancelled receive is tested. If it has not ended by then, its message is arriving,
// from a peer that may never send the rest.
constexpr int kMostLooks = 10'000;

// Returns the tag for headers from rank `from` to a rank whose tags begin at `first`.
int tag_of(int first, std::size_t from) noexcept { return first + static_cast<int>(2 * from); }

// A rank of a group takes two tags for each rank that may send to it. The tags tell apart the ranks
// that are threads of one process, and the groups that have the same processes.
std::vector<MpiChannel::Ends> ends_of(std::size_t rank, std::span<const Ticket> tickets) {
  std::vector<MpiChannel::Ends> ends;
  const auto first_tag = [&](std::size_t of) { return static_cast<int>(tickets[of].place[1]); };
  for (std::size_t peer = 0; peer < tickets.size(); ++peer) {
    ends.push_back({.process = static_cast<int>(tickets[peer].place[0]),
                    .out_tag = tag_of(first_tag(peer), rank),
                    .in_tag = tag_of(first_tag(rank), peer),
                    .peer = peer});
  }
  return ends;
}

class MpiFabric final : public Fabric {
 public:
  MpiFabric(std::shared_ptr<World> world, GroupShape shape)
      : world_(std::move(world)), shape_(std::move(shape)) {}

  std::vector<Ticket> issue(const std::string&) override {
    if (shape_.own.size() > 1 && world_->is_for_one_thread()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "MPI allows only the thread that initialised it, so threads cannot be ranks over "
                  "the transport mpi: initialise MPI with MPI_THREAD_SERIALIZED");
    }
    std::vector<Ticket> tickets(shape_.own.size());
    for (Ticket& ticket : tickets) {
      const int first = world_->take_tags(2 * shape_.domains.size());
      ticket.place = {world_->rank(), static_cast<std::uint64_t>(first)};
    }
    return tickets;
  }

  std::vector<std::unique_ptr<transport::Transport>> connect(std::span<const Ticket> tickets,
                                                             const CallTerms&,
                                                             base::TimePoint) override {
    std::vector<std::unique_ptr<transport::Transport>> transports;
    for (const std::size_t rank : shape_.own) {
      transports.push_back(std::make_unique<Transport>(world_, ends_of(rank, tickets)));
    }
    return transports;
  }

 private:
  std::shared_ptr<World> world_;
  GroupShape shape_;
};

}  // namespace

Transport::Transport(std::shared_ptr<World> world, std::span<const MpiChannel::Ends> ends)
    : world_(std::move(world)), channels_(std::make_unique<std::deque<MpiChannel>>()) {
  for (const MpiChannel::Ends& each : ends) channels_->emplace_back(*world_, each);
}

Transport::~Transport() {
  bool is_settled = false;
  if (world_->may_call()) {
    const TurnHolder holder(*world_);
    is_settled = cancel_all();
  }
  if (is_settled) return;
  world_->keep_for_ever();
  memory::keep_for_ever(std::shared_ptr<std::deque<MpiChannel>>(std::move(channels_)));
}

bool Transport::cancel_all() noexcept {
  for (MpiChannel& channel : *channels_) channel.cancel();
  bool is_settled = false;
  for (int looks = 0; looks < kMostLooks && !is_settled; ++looks) {
    is_settled = true;
    for (MpiChannel& channel : *channels_) is_settled &= channel.settle();
  }
  return is_settled;
}

WaitTraits Transport::wait_traits() const noexcept {
  return {.look = Look::kLibrary,
          .cannot_wake = true,
          .one_thread = world_->is_for_one_thread(),
          .callers_only = world_->is_for_callers_only(),
          .driving = world_->turn()};
}

void Transport::sleep(base::Duration at_most) {
  std::this_thread::sleep_for(std::min<base::Duration>(at_most, kNap));
}

std::unique_ptr<Fabric> Transport::group_fabric(const GroupShape& shape) {
  return std::make_unique<MpiFabric>(world_, shape);
}

Block Transport::allocate(std::size_t bytes) { return memory::allocate_host(bytes); }

std::uint64_t Transport::sent_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const MpiChannel& channel : *channels_) total += channel.sent_bytes();
  return total;
}

std::uint64_t Transport::staged_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const MpiChannel& channel : *channels_) total += channel.staged_bytes();
  return total;
}

// The driving thread calls this function, so it has the turn. A thread that may not call MPI leaves
// the receives as they are: the destructor cancels them.
void Transport::abort(const Cause&) noexcept {
  world_->keep_for_ever();
  if (world_->calls().is_finalized()) return;
  if (world_->may_call()) cancel_all();
  keeps_buffers_ = std::ranges::any_of(*channels_, &MpiChannel::keeps_buffers);
}

std::unique_ptr<Transport> transport_of_all(std::shared_ptr<World> world) {
  const std::size_t world_size = world->world_size();
  const int first = world->take_tags(2 * world_size);  // The same number on all ranks.
  std::vector<Ticket> tickets(world_size);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    tickets[rank].place = {rank, static_cast<std::uint64_t>(first)};
  }
  const std::size_t rank = world->rank();
  return std::make_unique<Transport>(std::move(world), ends_of(rank, tickets));
}

}  // namespace rota::transport::mpi
