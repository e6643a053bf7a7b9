// Calls rota's collectives.
#include "collectives/rota_group.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <rota/communicator.h>

#include "collectives/element_types.h"

namespace rota::bench {
namespace {

Values values_of(DataType type, std::byte* buffer, Slice slice) {
  return with_type(type, [&]<class T>(std::type_identity<T>) {
    return Values(std::span(reinterpret_cast<T*>(buffer) + slice.offset, slice.count));
  });
}

class RotaGroup final : public Group {
 public:
  explicit RotaGroup(const CommunicatorOptions& options) : communicator_(options) {}

  Communicator& communicator() noexcept { return communicator_; }

  std::string name() const override { return "rota " + communicator_.rank_table().transport; }
  std::size_t rank() const override { return communicator_.rank(); }
  std::size_t world_size() const override { return communicator_.world_size(); }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory memory) override {
    if (memory == Memory::kAny) return plain_memory(bytes);
    auto block = std::make_shared<Block>(communicator_.allocate(bytes));
    return {block, block->bytes().data()};
  }

  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    const Layout layout = layout_of(work, rank(), world_size());
    const Values input = values_of(work.type, buffers.input, layout.input);
    const Values output = values_of(work.type, buffers.output, layout.output);
    const Values all = values_of(work.type, buffers.output, {0, work.total});
    auto make = work.placement == Placement::kInPlace ? in_place_call(work, input, all)
                                                      : out_of_place_call(work, input, output);
    return {std::move(make), work.codec != Codec::kIdentity ? "ring" : work.plan};
  }

  void barrier() override { communicator_.barrier(); }

  std::vector<double> gather_from_all(std::span<const double> values) override {
    std::vector<double> all(world_size() * values.size());
    communicator_.all_gather(values, all);
    return all;
  }

 private:
  // Every plan other than "auto" has its own communicator.
  Communicator& by_plan(const std::string& plan) {
    if (plan == "auto") return communicator_;
    const auto found = by_plan_.find(plan);
    if (found != by_plan_.end()) return found->second;
    return by_plan_.emplace(plan, communicator_.split(0, rank(), plan)).first->second;
  }

  // `all` is the whole buffer. `input` is the part of it that this rank gives.
  std::function<void()> in_place_call(const Work& work, Values input, Values all) {
    Communicator& comm = by_plan(work.plan);
    const ReduceOp op = work.op;
    const Reduction reduction = Reduction(op).by(work.codec);
    switch (work.collective) {
      case Collective::kAllReduce:
        return [&comm, all, reduction] { comm.all_reduce(all, reduction); };
      case Collective::kReduce:
        return [&comm, all, op] { comm.reduce(all, kRoot, op); };
      case Collective::kReduceScatter:
        return [&comm, all, op] { comm.reduce_scatter(all, op); };
      case Collective::kAllGather:
        return [&comm, all] { comm.all_gather(all); };
      case Collective::kGather:
        return [&comm, input, all] { comm.gather(input, all, kRoot); };
      case Collective::kAllToAll:
        return [&comm, all] { comm.all_to_all(all); };
      case Collective::kBroadcast:
        return [&comm, all] { comm.broadcast(all, kRoot); };
      case Collective::kPingPong:
        return ping_pong(all, all);
      case Collective::kBarrier:
        return [&comm] { comm.barrier(); };
      case Collective::kScatter:
        break;
    }
    return {};
  }

  std::function<void()> out_of_place_call(const Work& work, ConstValues input, Values output) {
    Communicator& comm = by_plan(work.plan);
    const ReduceOp op = work.op;
    const Reduction reduction = Reduction(op).by(work.codec);
    switch (work.collective) {
      case Collective::kAllReduce:
        return [&comm, input, output, reduction] { comm.all_reduce(input, output, reduction); };
      case Collective::kReduce:
        return [&comm, input, output, op] { comm.reduce(input, output, kRoot, op); };
      case Collective::kReduceScatter:
        return [&comm, input, output, op] { comm.reduce_scatter(input, output, op); };
      case Collective::kAllGather:
        return [&comm, input, output] { comm.all_gather(input, output); };
      case Collective::kGather:
        return [&comm, input, output] { comm.gather(input, output, kRoot); };
      case Collective::kScatter:
        return [&comm, input, output] { comm.scatter(input, output, kRoot); };
      case Collective::kAllToAll:
        return [&comm, input, output] { comm.all_to_all(input, output); };
      case Collective::kPingPong:
        return ping_pong(rank() == kRoot ? input : output, output);
      case Collective::kBroadcast:
      case Collective::kBarrier:
        break;
    }
    return {};
  }

  std::function<void()> ping_pong(ConstValues to_send, Values to_receive) {
    if (world_size() <= kPingPongPeer) return {};
    if (rank() > kPingPongPeer) return [] {};
    if (rank() == kRoot) {
      return [this, to_send, to_receive] {
        communicator_.send(to_send, kPingPongPeer);
        communicator_.receive(to_receive, kPingPongPeer);
      };
    }
    return [this, to_send, to_receive] {
      communicator_.receive(to_receive, kRoot);
      communicator_.send(to_send, kRoot);
    };
  }

  Communicator communicator_;
  std::map<std::string, Communicator> by_plan_;
};

}  // namespace

std::unique_ptr<Group> make_rota_group(const CommunicatorOptions& options) {
  return std::make_unique<RotaGroup>(options);
}

RotaWorld make_rota_world(const CommunicatorOptions& options) {
  auto group = std::make_unique<RotaGroup>(options);
  Communicator* const communicator = &group->communicator();
  return {std::move(group), communicator};
}

}  // namespace rota::bench
