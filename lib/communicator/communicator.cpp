// The public interface: each method builds a Call and submits it.
#include <rota/communicator.h>

#include <algorithm>
#include <utility>

#include <rota/own_threads.h>

#include "collectives/plan.h"
#include "communicator/create_group.h"
#include "communicator/impl.h"
#include "communicator/join.h"
#include "communicator/joined.h"
#include "communicator/thread_world.h"
#include "communicator/tuned_file.h"

namespace rota {
namespace {

using collectives::Collective;
using Counts = Communicator::Counts;

Call all_reduce_call(Values values, Reduction reduction) {
  return {.what = {.collective = Collective::kAllReduce, .reduction = reduction}, .values = values};
}
Call all_reduce_call(ConstValues input, Values output, Reduction reduction) {
  return {.what = {.collective = Collective::kAllReduce, .reduction = reduction},
          .values = output,
          .input = input};
}
Call feedback_call(Values values, Values feedback, Reduction reduction) {
  Call call = all_reduce_call(values, reduction);
  call.feedback = feedback;
  return call;
}
Call all_reduce_call(std::span<const Values> group, Reduction reduction) {
  return {.what = {.collective = Collective::kAllReduce, .reduction = reduction}, .group = group};
}
Call reduce_call(Values values, std::size_t root, Reduction reduction) {
  return {.what = {.collective = Collective::kReduce, .root = root, .reduction = reduction},
          .values = values};
}
Call reduce_call(ConstValues input, Values output, std::size_t root, Reduction reduction) {
  return {.what = {.collective = Collective::kReduce, .root = root, .reduction = reduction},
          .values = output,
          .input = input};
}
Call reduce_scatter_call(Values values, Reduction reduction) {
  return {.what = {.collective = Collective::kReduceScatter, .reduction = reduction},
          .values = values};
}
Call reduce_scatter_call(ConstValues input, Values output, Reduction reduction) {
  return {.what = {.collective = Collective::kReduceScatter, .reduction = reduction},
          .values = output,
          .input = input};
}
Call all_gather_call(Values values) {
  return {.what = {.collective = Collective::kAllGather}, .values = values};
}
Call all_gather_call(ConstValues part, Values all) {
  return {.what = {.collective = Collective::kAllGather}, .values = all, .input = part};
}
Call gather_call(ConstValues part, Values all, std::size_t root) {
  return {.what = {.collective = Collective::kGather, .root = root}, .values = all, .input = part};
}
Call scatter_call(ConstValues all, Values part, std::size_t root) {
  return {.what = {.collective = Collective::kScatter, .root = root}, .values = part, .input = all};
}
Call all_to_all_call(Values values) {
  return {.what = {.collective = Collective::kAllToAll}, .values = values};
}
Call all_to_all_call(ConstValues input, Values output) {
  return {.what = {.collective = Collective::kAllToAll}, .values = output, .input = input};
}
Call all_to_all_call(ConstValues input, Counts send_counts, Values output, Counts receive_counts) {
  return {.what = {.collective = Collective::kAllToAll, .uneven = true},
          .values = output,
          .input = input,
          .counts = send_counts,
          .receive_counts = receive_counts};
}
Call broadcast_call(Values values, std::size_t root) {
  return {.what = {.collective = Collective::kBroadcast, .root = root}, .values = values};
}
Call barrier_call() { return {.what = {.collective = Collective::kBarrier}}; }
Call send_call(ConstValues values, std::size_t to) {
  return {.what = {.collective = Collective::kSend, .root = to}, .input = values};
}
Call receive_call(Values values, std::size_t from) {
  return {.what = {.collective = Collective::kReceive, .root = from}, .values = values};
}

Call with_counts(Call call, Counts counts) {
  call.what.uneven = true;
  call.counts = counts;
  return call;
}

[[noreturn]] void refuse_moved_from() {
  throw Error(ErrorCode::kClosed, "this communicator was moved from");
}

// The Call is not copied: a processor stalls when it copies bytes that were just written.
void run(const Communicator& communicator, Call&& call) {
  CommunicatorImpl& impl = *CommunicatorImpl::of(communicator);
  impl.wait(impl.submit(call));
}

Request start(const Communicator& communicator, Call&& call) {
  return CommunicatorImpl::start(CommunicatorImpl::of(communicator), call);
}

}  // namespace

const std::shared_ptr<CommunicatorImpl>& CommunicatorImpl::of(const Communicator& communicator) {
  if (!communicator.impl_) refuse_moved_from();
  communicator.impl_->require_here();
  return communicator.impl_;
}

Communicator::Communicator(const CommunicatorOptions& options) {
  const Settings settings(options);
  // The child of a rank is no further rank of the job.
  if (const auto held = find_joined(options)) held->require_here();
  Group group = join(options);
  require_own_topology(group);
  impl_ = Impl::make(std::move(group), settings);
  if (!is_alone(options)) note_joined(options, impl_);
}

std::vector<Communicator> Communicator::for_threads(std::size_t count,
                                                    const CommunicatorOptions& options) {
  require_thread_count(count);
  if (is_alone(options)) {
    return ThreadWorld::make({.world_size = count, .arena_bytes = 0, .communicator = options});
  }
  const Settings settings(options);
  const std::shared_ptr<Impl> held = find_joined(options);
  if (held) held->require_here();
  // If this call has to join the job itself, the communicator of the job ends with the call.
  const auto processes = held ? held : Impl::make(join(options), settings);
  std::vector<Communicator> world;
  for (Group& group : groups_for_threads(*processes, count)) {
    if (held) {
      forget_foreign_topology(group);  // The tuned table is for ranks that are processes.
      group.deadline =
          std::min<base::Duration>(options.deadline.value_or(group.deadline), base::kForever);
    } else {
      require_own_topology(group);
    }
    world.push_back(Communicator(Impl::make(std::move(group), settings)));
  }
  return world;
}

Communicator Communicator::split(std::size_t color, std::size_t key, const std::string& plan,
                                 std::optional<std::chrono::nanoseconds> deadline) {
  Impl& parent = *CommunicatorImpl::of(*this);
  const Settings asked = plan.empty() ? parent.settings() : parent.settings().with_plan(plan);
  Group group = split_group(parent, color, key, deadline);
  const Settings settings = plan.empty() ? asked.for_part(group) : asked;
  forget_foreign_topology(group);
  return Communicator(Impl::make(std::move(group), settings));
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
Codec Communicator::codec() const noexcept { return impl_->settings().codec; }
std::uint64_t Communicator::codec_seed() const noexcept { return impl_->settings().codec_seed; }
std::string_view Communicator::plan() const noexcept {
  const auto plan = impl_->settings().all_reduce;
  return plan ? collectives::to_string(*plan) : "auto";
}
const std::string& Communicator::kernels() const noexcept { return impl_->settings().kernels; }

void Communicator::all_reduce(Values values, Reduction reduction) {
  run(*this, all_reduce_call(values, reduction));
}
void Communicator::all_reduce(InputValues input, Values output, Reduction reduction) {
  run(*this, all_reduce_call(input, output, reduction));
}
Request Communicator::all_reduce_async(Values values, Reduction reduction) {
  return start(*this, all_reduce_call(values, reduction));
}
Request Communicator::all_reduce_async(ConstValues input, Values output, Reduction reduction) {
  return start(*this, all_reduce_call(input, output, reduction));
}

void Communicator::all_reduce_with_feedback(Values values, Values feedback, Reduction reduction) {
  run(*this, feedback_call(values, feedback, reduction));
}
Request Communicator::all_reduce_with_feedback_async(Values values, Values feedback,
                                                     Reduction reduction) {
  return start(*this, feedback_call(values, feedback, reduction));
}

void Communicator::all_reduce(std::initializer_list<Values> group, Reduction reduction) {
  all_reduce(std::span(group.begin(), group.size()), reduction);
}
void Communicator::all_reduce(std::span<const Values> group, Reduction reduction) {
  run(*this, all_reduce_call(group, reduction));
}
Request Communicator::all_reduce_async(std::span<const Values> group, Reduction reduction) {
  return start(*this, all_reduce_call(group, reduction));
}

void Communicator::reduce(Values values, std::size_t root, Reduction reduction) {
  run(*this, reduce_call(values, root, reduction));
}
void Communicator::reduce(InputValues input, Values output, std::size_t root, Reduction reduction) {
  run(*this, reduce_call(input, output, root, reduction));
}
Request Communicator::reduce_async(Values values, std::size_t root, Reduction reduction) {
  return start(*this, reduce_call(values, root, reduction));
}
Request Communicator::reduce_async(ConstValues input, Values output, std::size_t root,
                                   Reduction reduction) {
  return start(*this, reduce_call(input, output, root, reduction));
}

void Communicator::reduce_scatter(Values values, Reduction reduction) {
  run(*this, reduce_scatter_call(values, reduction));
}
void Communicator::reduce_scatter(InputValues input, Values output, Reduction reduction) {
  run(*this, reduce_scatter_call(input, output, reduction));
}
void Communicator::reduce_scatter_v(Values values, Counts counts, Reduction reduction) {
  run(*this, with_counts(reduce_scatter_call(values, reduction), counts));
}
void Communicator::reduce_scatter_v(InputValues input, Values output, Counts counts,
                                    Reduction reduction) {
  run(*this, with_counts(reduce_scatter_call(input, output, reduction), counts));
}
Request Communicator::reduce_scatter_async(Values values, Reduction reduction) {
  return start(*this, reduce_scatter_call(values, reduction));
}
Request Communicator::reduce_scatter_async(ConstValues input, Values output, Reduction reduction) {
  return start(*this, reduce_scatter_call(input, output, reduction));
}
Request Communicator::reduce_scatter_v_async(Values values, Counts counts, Reduction reduction) {
  return start(*this, with_counts(reduce_scatter_call(values, reduction), counts));
}
Request Communicator::reduce_scatter_v_async(ConstValues input, Values output, Counts counts,
                                             Reduction reduction) {
  return start(*this, with_counts(reduce_scatter_call(input, output, reduction), counts));
}

void Communicator::all_gather(Values values) { run(*this, all_gather_call(values)); }
void Communicator::all_gather(InputValues part, Values all) {
  run(*this, all_gather_call(part, all));
}
void Communicator::all_gather_v(Values values, Counts counts) {
  run(*this, with_counts(all_gather_call(values), counts));
}
void Communicator::all_gather_v(InputValues part, Values all, Counts counts) {
  run(*this, with_counts(all_gather_call(part, all), counts));
}
Request Communicator::all_gather_async(Values values) {
  return start(*this, all_gather_call(values));
}
Request Communicator::all_gather_async(ConstValues part, Values all) {
  return start(*this, all_gather_call(part, all));
}
Request Communicator::all_gather_v_async(Values values, Counts counts) {
  return start(*this, with_counts(all_gather_call(values), counts));
}
Request Communicator::all_gather_v_async(ConstValues part, Values all, Counts counts) {
  return start(*this, with_counts(all_gather_call(part, all), counts));
}

void Communicator::gather(InputValues part, Values all, std::size_t root) {
  run(*this, gather_call(part, all, root));
}
void Communicator::gather_v(InputValues part, Values all, Counts counts, std::size_t root) {
  run(*this, with_counts(gather_call(part, all, root), counts));
}
Request Communicator::gather_async(ConstValues part, Values all, std::size_t root) {
  return start(*this, gather_call(part, all, root));
}
Request Communicator::gather_v_async(ConstValues part, Values all, Counts counts,
                                     std::size_t root) {
  return start(*this, with_counts(gather_call(part, all, root), counts));
}

void Communicator::scatter(InputValues all, Values part, std::size_t root) {
  run(*this, scatter_call(all, part, root));
}
void Communicator::scatter_v(InputValues all, Values part, Counts counts, std::size_t root) {
  run(*this, with_counts(scatter_call(all, part, root), counts));
}
Request Communicator::scatter_async(ConstValues all, Values part, std::size_t root) {
  return start(*this, scatter_call(all, part, root));
}
Request Communicator::scatter_v_async(ConstValues all, Values part, Counts counts,
                                      std::size_t root) {
  return start(*this, with_counts(scatter_call(all, part, root), counts));
}

void Communicator::all_to_all(Values values) { run(*this, all_to_all_call(values)); }
void Communicator::all_to_all(InputValues input, Values output) {
  run(*this, all_to_all_call(input, output));
}
void Communicator::all_to_all_v(InputValues input, Counts send_counts, Values output,
                                Counts receive_counts) {
  run(*this, all_to_all_call(input, send_counts, output, receive_counts));
}
Request Communicator::all_to_all_async(Values values) {
  return start(*this, all_to_all_call(values));
}
Request Communicator::all_to_all_async(ConstValues input, Values output) {
  return start(*this, all_to_all_call(input, output));
}
Request Communicator::all_to_all_v_async(ConstValues input, Counts send_counts, Values output,
                                         Counts receive_counts) {
  return start(*this, all_to_all_call(input, send_counts, output, receive_counts));
}

void Communicator::broadcast(Values values, std::size_t root) {
  run(*this, broadcast_call(values, root));
}
Request Communicator::broadcast_async(Values values, std::size_t root) {
  return start(*this, broadcast_call(values, root));
}

void Communicator::barrier() { run(*this, barrier_call()); }
Request Communicator::barrier_async() { return start(*this, barrier_call()); }

void Communicator::send(InputValues values, std::size_t to) { run(*this, send_call(values, to)); }
void Communicator::receive(Values values, std::size_t from) {
  run(*this, receive_call(values, from));
}
Request Communicator::send_async(ConstValues values, std::size_t to) {
  return start(*this, send_call(values, to));
}
Request Communicator::receive_async(Values values, std::size_t from) {
  return start(*this, receive_call(values, from));
}

Block Communicator::allocate(std::size_t bytes) {
  return CommunicatorImpl::of(*this)->allocate(bytes);
}

std::uint64_t Communicator::sent_bytes() const noexcept {
  const auto& transport = impl_->group().transport;
  return transport ? transport->sent_bytes() : 0;
}

std::uint64_t Communicator::staged_bytes() const noexcept {
  const auto& transport = impl_->group().transport;
  return transport ? transport->staged_bytes() : 0;
}

void Communicator::abort(std::string_view reason) noexcept { impl_->abort(reason); }

bool allows_own_threads(const Communicator& communicator) {
  return !CommunicatorImpl::of(communicator)->only_callers_drive();
}

}  // namespace rota
