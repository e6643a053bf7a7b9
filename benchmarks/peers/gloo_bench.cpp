// Measures Gloo's collectives over TCP by the method that measures rota's. The program starts its
// ranks itself, since Gloo has no launcher.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/run.h"
#include "option_numbers.h"
#include "peers/best_call.h"
#include "peers/family.h"
#include "scale/peer.h"

namespace rota::bench {
namespace {

constexpr std::uint64_t kPingPongSlot = 1 << 20;  // Far from the slots of collectives.

// The two forms of an operation that Gloo's functions accept. A form is null if Gloo does not
// support the operation.
template <class T>
struct Operation {
  using Function = void (*)(void*, const void*, const void*, std::size_t);
  Function function = nullptr;
  const gloo::ReductionFunction<T>* object = nullptr;
};

template <class T>
Operation<T> operation_of(ReduceOp op) {
  using Object = gloo::ReductionFunction<T>;
  switch (op) {
    case ReduceOp::kSum:
      return {&gloo::sum<T>, Object::sum};
    case ReduceOp::kProduct:
      return {&gloo::product<T>, Object::product};
    case ReduceOp::kMin:
      return {&gloo::min<T>, Object::min};
    case ReduceOp::kMax:
      return {&gloo::max<T>, Object::max};
    default:
      return {};
  }
}

using Buffer = gloo::transport::UnboundBuffer;

class GlooGroup final : public Group {
 public:
  GlooGroup(std::size_t rank, std::size_t world_size, const std::string& address,
            const std::string& folder)
      : rank_(rank), world_size_(world_size) {
    gloo::rendezvous::FileStore store(folder);
    auto device = gloo::transport::tcp::CreateDevice(address.c_str());
    auto context = std::make_shared<gloo::rendezvous::Context>(static_cast<int>(rank),
                                                               static_cast<int>(world_size));
    context->connectFullMesh(store, device);
    context_ = std::move(context);
  }

  std::string name() const override { return "Gloo"; }
  std::size_t rank() const override { return rank_; }
  std::size_t world_size() const override { return world_size_; }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory) override {
    return plain_memory(bytes);
  }

  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    if (work.collective == Collective::kBarrier) {  // It has no values, so one placement is enough.
      if (work.placement != Placement::kInPlace) return {};
      return {[this] { barrier(); }, "-"};
    }
    switch (work.type) {
      case DataType::kFloat32:
        return prepare_of<float>(work, buffers);
      case DataType::kFloat64:
        return prepare_of<double>(work, buffers);
      case DataType::kInt32:
        return prepare_of<std::int32_t>(work, buffers);
      case DataType::kInt64:
        return prepare_of<std::int64_t>(work, buffers);
      default:
        return {};
    }
  }

  void barrier() override {
    gloo::BarrierOptions options(context_);
    gloo::barrier(options);
  }

  std::vector<double> gather_from_all(std::span<const double> values) override {
    std::vector<double> own(values.begin(), values.end());
    std::vector<double> all(world_size_ * values.size());
    gloo::AllgatherOptions options(context_);
    options.setInput(own.data(), own.size());
    options.setOutput(all.data(), all.size());
    gloo::allgather(options);
    return all;
  }

 private:
  template <class T>
  PreparedCall prepare_of(const Work& work, const Buffers& buffers) {
    const auto operation = operation_of<T>(work.op);
    if (reduces(work.collective) && operation.function == nullptr) return {};
    T* const input = reinterpret_cast<T*>(buffers.input);
    T* const output = reinterpret_cast<T*>(buffers.output);
    const bool in_place = work.placement == Placement::kInPlace;
    switch (work.collective) {
      case Collective::kAllReduce:
        return best_all_reduce(in_place ? nullptr : input, output, work.total, operation);
      case Collective::kPingPong:
        return {ping_pong(input, output, work.total), "-"};
      case Collective::kBroadcast:
        return {in_place ? broadcast(output, work.total) : nullptr, "-"};
      default:
        return {in_place ? nullptr : out_of_place_call(work, input, output, operation), "-"};
    }
  }

  // Returns the call with the fastest algorithm, because Gloo leaves the choice of the algorithm to
  // its caller. Works in place if `input` is null.
  template <class T>
  PreparedCall best_all_reduce(T* input, T* output, std::size_t count,
                               const Operation<T>& operation) {
    using Algorithm = gloo::AllreduceOptions::Algorithm;
    std::vector<PreparedCall> ways = {
        {all_reduce(Algorithm::RING, input, output, count, operation), "ring"},
        {all_reduce(Algorithm::BCUBE, input, output, count, operation), "bcube"},
        {copy_and_run<gloo::AllreduceHalvingDoubling<T>>(input, output, count, operation),
         "halving"}};
    // With four ranks and 64 MiB, this algorithm never returned.
    if (world_size_ == 2) {
      ways.push_back({copy_and_run<gloo::AllreduceRingChunked<T>>(input, output, count, operation),
                      "chunked"});
    }
    return best_call(*this, ways, count * sizeof(T));
  }

  template <class T>
  std::function<void()> all_reduce(gloo::AllreduceOptions::Algorithm algorithm, T* input, T* output,
                                   std::size_t count, const Operation<T>& operation) {
    auto options = std::make_shared<gloo::AllreduceOptions>(context_);
    if (input != nullptr) options->setInput(input, count);
    options->setOutput(output, count);
    options->setReduceFunction(operation.function);
    options->setAlgorithm(algorithm);
    return [options] { gloo::allreduce(*options); };
  }

  // The older algorithms work only in place, so the call copies the input first.
  template <class Algorithm, class T>
  std::function<void()> copy_and_run(const T* input, T* output, std::size_t count,
                                     const Operation<T>& operation) {
    auto algorithm = std::make_shared<Algorithm>(context_, std::vector<T*>{output},
                                                 static_cast<int>(count), operation.object);
    return [=] {
      if (input != nullptr) std::memcpy(output, input, count * sizeof(T));
      algorithm->run();
    };
  }

  template <class T>
  std::function<void()> broadcast(T* values, std::size_t count) {
    return [=, this] {
      gloo::BroadcastOptions options(context_);
      options.setOutput(values, count);
      options.setRoot(static_cast<int>(kRoot));
      gloo::broadcast(options);
    };
  }

  // In place, input and output are the same buffer.
  template <class T>
  std::function<void()> ping_pong(T* input, T* output, std::size_t count) {
    if (rank_ > kPingPongPeer) return [] {};
    const bool begins = rank_ == kRoot;
    std::shared_ptr<Buffer> to_send =
        context_->createUnboundBuffer(begins ? input : output, count * sizeof(T));
    std::shared_ptr<Buffer> to_receive = context_->createUnboundBuffer(output, count * sizeof(T));
    const auto peer = static_cast<int>(begins ? kPingPongPeer : kRoot);
    const auto send = [=] {
      to_send->send(peer, kPingPongSlot);
      to_send->waitSend();
    };
    return [=] {
      if (begins) send();
      to_receive->recv(peer, kPingPongSlot);
      to_receive->waitRecv();
      if (!begins) send();
    };
  }

  template <class T>
  std::function<void()> out_of_place_call(const Work& work, T* input, T* output,
                                          const Operation<T>& operation) {
    const Layout layout = layout_of(work, rank_, world_size_);
    const std::size_t given = layout.input.count;
    const std::size_t got = layout.output.count;
    switch (work.collective) {
      case Collective::kReduce:
        // Every rank has an output, which holds its intermediate sums.
        return [=, this] {
          gloo::ReduceOptions options(context_);
          options.setInput(input, given);
          options.setOutput(output, given);
          options.setReduceFunction(operation.function);
          options.setRoot(static_cast<int>(kRoot));
          gloo::reduce(options);
        };
      case Collective::kReduceScatter:
        return reduce_scatter(input, output, work.total, operation);
      case Collective::kAllGather:
        return [=, this] {
          gloo::AllgatherOptions options(context_);
          options.setInput(input, given);
          options.setOutput(output, got);
          gloo::allgather(options);
        };
      case Collective::kGather:
        return [=, this] {
          gloo::GatherOptions options(context_);
          options.setInput(input, given);
          if (got != 0) options.setOutput(output, got);
          options.setRoot(static_cast<int>(kRoot));
          gloo::gather(options);
        };
      case Collective::kScatter:
        return scatter(input, output, got);
      case Collective::kAllToAll:
        return [=, this] {
          gloo::AlltoallOptions options(context_);
          options.setInput(input, given);
          options.setOutput(output, got);
          gloo::alltoall(options);
        };
      default:
        return {};
    }
  }

  // Gloo's algorithm works in place, so the input is copied first. The algorithm leaves this rank's
  // part at the start of the buffer.
  template <class T>
  std::function<void()> reduce_scatter(const T* input, T* output, std::size_t count,
                                       const Operation<T>& operation) {
    const std::vector<int> parts(world_size_, static_cast<int>(count / world_size_));
    auto algorithm = std::make_shared<gloo::ReduceScatterHalvingDoubling<T>>(
        context_, std::vector<T*>{output}, static_cast<int>(count), parts, operation.object);
    return [=] {
      std::memcpy(output, input, count * sizeof(T));
      algorithm->run();
    };
  }

  template <class T>
  std::function<void()> scatter(T* input, T* output, std::size_t part) {
    std::vector<T*> parts;
    for (std::size_t rank = 0; rank_ == kRoot && rank < world_size_; ++rank) {
      parts.push_back(input + rank * part);
    }
    return [=, this] {
      gloo::ScatterOptions options(context_);
      if (!parts.empty()) options.setInputs(parts, part);
      options.setOutput(output, part);
      options.setRoot(static_cast<int>(kRoot));
      gloo::scatter(options);
    };
  }

  std::size_t rank_;
  std::size_t world_size_;
  std::shared_ptr<gloo::Context> context_;
};

// With --rank, this process is one rank. Otherwise the program starts all ranks.
std::unique_ptr<Group> make_group(const cxxopts::ParseResult& given, Family& family) {
  const auto ranks = count_of_option(given, "ranks");
  const auto address = given["address"].as<std::string>();
  if (given.count("rank") != 0) {
    return std::make_unique<GlooGroup>(whole_number_of(given, "rank"), ranks, address,
                                       given["store"].as<std::string>());
  }
  const std::size_t rank = family.fork_ranks(ranks);
  return std::make_unique<GlooGroup>(rank, ranks, address, family.folder().string());
}

void add_options_of_gloo(cxxopts::Options& options) {
  options.add_options()  //
      ("ranks", "Number of ranks", cxxopts::value<std::string>()->default_value("2"))(
          "address", "Where this rank listens",
          cxxopts::value<std::string>()->default_value("127.0.0.1"))(
          "rank", "The rank of this process; without it, the program starts all ranks",
          cxxopts::value<std::string>())(
          "store", "With --rank: a folder that all ranks can see, and that is empty at first",
          cxxopts::value<std::string>()->default_value("."));
}

int run(int argument_count, char** arguments, Family& family) {
  const auto make = [&](const cxxopts::ParseResult& given) { return make_group(given, family); };
  return run_peer({.usage = "gloo_bench", .add_options = add_options_of_gloo, .make_group = make},
                  argument_count, arguments);
}

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  Family family;
  int exit_code = 1;
  try {
    exit_code = run(argument_count, arguments, family);
  } catch (const std::exception& error) {
    std::cerr << "gloo_bench: " << error.what() << '\n';
  }
  return family.finish(exit_code);
}
