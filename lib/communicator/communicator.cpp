// The public face: every call is a line that hands over to Communicator::Impl.
#include <rota/communicator.h>

#include <utility>

#include "communicator/impl.h"
#include "communicator/join.h"
#include "communicator/thread_world.h"

namespace rota {
namespace {

// Of each thread: room in the address space, not memory.
constexpr std::size_t kArenaBytes =
    sizeof(void*) == 8 ? std::size_t{16} << 30 : std::size_t{64} << 20;

}  // namespace

Communicator::Communicator(const CommunicatorOptions& options)
    : impl_(std::make_shared<Impl>(join(options), options)) {}

std::vector<Communicator> Communicator::for_threads(std::size_t count,
                                                    const CommunicatorOptions& options) {
  if (count == 0) throw Error(ErrorCode::kInvalidArgument, "a world needs one thread or more");
  return ThreadWorld::make(
      {.world_size = count, .arena_bytes = kArenaBytes, .communicator = options});
}

Communicator::Communicator(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    if (impl_) impl_->close();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Communicator::~Communicator() {
  if (impl_) impl_->close();
}

std::size_t Communicator::rank() const noexcept { return impl_->group().rank; }
std::size_t Communicator::world_size() const noexcept { return impl_->group().world_size(); }
const RankTable& Communicator::rank_table() const noexcept { return impl_->group().table; }

Request Communicator::leave_running(std::uint64_t number) {
  impl_->run_unattended();
  return {impl_, number};
}

void Communicator::all_reduce(Values values, ReduceOp op) {
  impl_->wait(impl_->all_reduce(values, op));
}

Request Communicator::all_reduce_async(Values values, ReduceOp op) {
  return leave_running(impl_->all_reduce(values, op));
}

void Communicator::reduce_scatter(Values values, ReduceOp op) {
  impl_->wait(impl_->reduce_scatter(values, op));
}

Request Communicator::reduce_scatter_async(Values values, ReduceOp op) {
  return leave_running(impl_->reduce_scatter(values, op));
}

void Communicator::all_gather(Values values) { impl_->wait(impl_->all_gather(values)); }

Request Communicator::all_gather_async(Values values) {
  return leave_running(impl_->all_gather(values));
}

void Communicator::broadcast(Values values, std::size_t root) {
  impl_->wait(impl_->broadcast(values, root));
}

Request Communicator::broadcast_async(Values values, std::size_t root) {
  return leave_running(impl_->broadcast(values, root));
}

void Communicator::barrier() { impl_->wait(impl_->barrier()); }

Request Communicator::barrier_async() { return leave_running(impl_->barrier()); }

Block Communicator::allocate(std::size_t bytes) { return impl_->allocate(bytes); }

std::uint64_t Communicator::staged_bytes() const noexcept {
  const auto& transport = impl_->group().transport;
  return transport ? transport->staged_bytes() : 0;
}

void Communicator::abort(std::string_view reason) noexcept { impl_->abort(reason); }

}  // namespace rota
