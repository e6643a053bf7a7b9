// Measures Gloo's collectives, of floats and over TCP, by the method that rota's are measured by.
// It starts its ranks itself, for Gloo has no launcher.
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
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "collectives/run.h"
#include "peers/family.h"

namespace rota::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Sum = void (*)(void*, const void*, const void*, std::size_t);

constexpr Sum kSum = &gloo::sum<float>;
constexpr std::size_t kFewBytes = 64 << 10;

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
    const bool is_sum = !reduces(work.collective) || work.op == ReduceOp::kSum;
    if (work.type != DataType::kFloat32 || !is_sum) return {};
    const auto floats = [](std::byte* at) { return reinterpret_cast<float*>(at); };
    const bool in_place = work.placement == Placement::kInPlace;
    float* const input = floats(buffers.input);
    float* const output = floats(buffers.output);
    if (work.collective == Collective::kAllReduce) {
      return best_all_reduce(in_place ? nullptr : input, output, work.total);
    }
    return {in_place ? in_place_call(work, output) : out_of_place_call(work, input, output), "-"};
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
  // In place where `input` is null. Which plan is the best depends on the bytes, and Gloo leaves
  // the choice to its caller: all are tried, and the one whose slowest rank is the fastest is
  // taken.
  PreparedCall best_all_reduce(float* input, float* output, std::size_t count) {
    PreparedCall best;
    double least = 0;
    std::vector<std::string> plans = {"ring", "bcube", "halving"};
    // Of four ranks and 64 MiB, this one never returned.
    if (world_size_ == 2) plans.emplace_back("chunked");
    for (const std::string& plan : plans) {
      const auto make = all_reduce(plan, input, output, count);
      const double seconds = slowest(make, count * sizeof(float) <= kFewBytes ? 20 : 2);
      if (best.make && seconds >= least) continue;
      best = {make, plan};
      least = seconds;
    }
    return best;
  }

  double slowest(const std::function<void()>& make, std::size_t calls) {
    make();
    barrier();
    const auto begin = Clock::now();
    for (std::size_t call = 0; call < calls; ++call) make();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::ranges::max(gather_from_all({&seconds, 1}));
  }

  std::function<void()> all_reduce(const std::string& plan, float* input, float* output,
                                   std::size_t count) {
    if (plan == "halving") {
      return copy_and_run<gloo::AllreduceHalvingDoubling<float>>(input, output, count);
    }
    if (plan == "chunked") {
      return copy_and_run<gloo::AllreduceRingChunked<float>>(input, output, count);
    }
    auto options = std::make_shared<gloo::AllreduceOptions>(context_);
    if (input != nullptr) options->setInput(input, count);
    options->setOutput(output, count);
    options->setReduceFunction(kSum);
    options->setAlgorithm(plan == "ring" ? gloo::AllreduceOptions::Algorithm::RING
                                         : gloo::AllreduceOptions::Algorithm::BCUBE);
    return [options] { gloo::allreduce(*options); };
  }

  // The older algorithms work in place alone.
  template <class Algorithm>
  std::function<void()> copy_and_run(const float* input, float* output, std::size_t count) {
    auto algorithm =
        std::make_shared<Algorithm>(context_, std::vector<float*>{output}, static_cast<int>(count));
    return [=] {
      if (input != nullptr) std::memcpy(output, input, count * sizeof(float));
      algorithm->run();
    };
  }

  std::function<void()> in_place_call(const Work& work, float* values) {
    if (work.collective == Collective::kBarrier) return [this] { barrier(); };
    if (work.collective != Collective::kBroadcast) return {};
    return [this, values, count = work.total] {
      gloo::BroadcastOptions options(context_);
      options.setOutput(values, count);
      options.setRoot(static_cast<int>(kRoot));
      gloo::broadcast(options);
    };
  }

  std::function<void()> out_of_place_call(const Work& work, float* input, float* output) {
    const Layout layout = layout_of(work, rank_, world_size_);
    const std::size_t given = layout.input.count;
    const std::size_t got = layout.output.count;
    switch (work.collective) {
      case Collective::kReduce:
        // Every rank has an output, as its intermediate sums lie there.
        return [=, this] {
          gloo::ReduceOptions options(context_);
          options.setInput(input, given);
          options.setOutput(output, given);
          options.setReduceFunction(kSum);
          options.setRoot(static_cast<int>(kRoot));
          gloo::reduce(options);
        };
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

  std::size_t rank_;
  std::size_t world_size_;
  std::shared_ptr<gloo::Context> context_;
};

// By hand, each rank is told who it is; else the program becomes all of them.
std::unique_ptr<Group> make_group(const cxxopts::ParseResult& given, Family& family) {
  const auto ranks = given["ranks"].as<std::size_t>();
  const auto address = given["address"].as<std::string>();
  if (given.count("rank") != 0) {
    return std::make_unique<GlooGroup>(given["rank"].as<std::size_t>(), ranks, address,
                                       given["store"].as<std::string>());
  }
  const std::size_t rank = family.fork_ranks(ranks);
  return std::make_unique<GlooGroup>(rank, ranks, address, family.folder().string());
}

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  Family family;
  int exit_code = 1;
  try {
    auto options = measurement_options("gloo_bench");
    options.add_options()  //
        ("ranks", "How many", cxxopts::value<std::size_t>()->default_value("2"))(
            "address", "Where this rank listens",
            cxxopts::value<std::string>()->default_value("127.0.0.1"))(
            "rank", "Which of them this is; without it, the program starts all of them",
            cxxopts::value<std::size_t>())(
            "store", "With --rank: a folder that all ranks see, empty at first",
            cxxopts::value<std::string>()->default_value("."));
    exit_code =
        run_program(std::move(options), argument_count, arguments,
                    [&](const cxxopts::ParseResult& given) { return make_group(given, family); });
  } catch (const std::exception& error) {
    std::cerr << "gloo_bench: " << error.what() << '\n';
  }
  return family.finish(exit_code);
}
