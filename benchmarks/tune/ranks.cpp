// Measures messages, additions and all-reduces.
#include "tune/ranks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "collectives/coder.h"
#include "communicator/create_group.h"
#include "communicator/join.h"
#include "statistics.h"

namespace rota::bench {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPings = 100;
constexpr std::size_t kBandwidthRounds = 5;
constexpr std::size_t kBandwidthBytes = 1 << 20;
constexpr std::size_t kMessages = 32;
constexpr std::size_t kReduceRounds = 9;
constexpr std::size_t kReduceBytes = 8 << 20;  // More than the cache of a core holds.
constexpr std::size_t kLeastRounds = 7;
constexpr std::size_t kMostRounds = 301;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

CommunicatorOptions untuned(CommunicatorOptions options) {
  options.tuned_file.clear();
  options.plan = "auto";
  return options;
}

// Ignores a tuned file of rotarun: the file must not change the measured plans.
Group join_untuned(const CommunicatorOptions& options) {
  Group group = join(options);
  group.tuned.reset();
  return group;
}

std::span<float> floats_of(const Block& block) {
  return {reinterpret_cast<float*>(block.bytes().data()), block.bytes().size() / sizeof(float)};
}

}  // namespace

TunedRanks::TunedRanks(const CommunicatorOptions& options)
    : all_(join_untuned(untuned(options)), Settings(untuned(options))) {}

Topology TunedRanks::topology() const {
  return topology_of(all_.group().table, all_.group().encrypts);
}

bool TunedRanks::shares_memory() const {
  return all_.group().transport && all_.group().transport->shared_memory();
}

void TunedRanks::barrier() {
  all_.wait(all_.submit({.what = {.collective = Collective::kBarrier}}));
}

std::vector<double> TunedRanks::gather(double own) {
  std::vector<double> all(world_size());
  all_.wait(all_.submit({.what = {.collective = Collective::kAllGather},
                         .values = all,
                         .input = ConstValues(std::span(&std::as_const(own), 1))}));
  return all;
}

double TunedRanks::slowest(double own) { return std::ranges::max(gather(own)); }

CommunicatorImpl& TunedRanks::by(Algorithm plan) {
  auto& ranks = by_plan_[plan];
  if (!ranks) {
    CommunicatorOptions options;
    options.plan = to_string(plan);
    ranks = std::make_unique<CommunicatorImpl>(split_group(all_, 0, rank(), {}), Settings(options));
  }
  return *ranks;
}

double TunedRanks::measure_latency(Pair pair) {
  std::vector<float> value(1);
  std::vector<double> samples;
  const auto send = [&](std::size_t to) {
    all_.wait(all_.submit({.what = {.collective = Collective::kSend, .root = to}, .input = value}));
  };
  const auto receive = [&](std::size_t from) {
    all_.wait(
        all_.submit({.what = {.collective = Collective::kReceive, .root = from}, .values = value}));
  };
  barrier();
  for (std::size_t i = 0; i < kPings && (rank() == pair.first || rank() == pair.second); ++i) {
    const auto begin = Clock::now();
    if (rank() == pair.first) {
      send(pair.second);
      receive(pair.second);
    } else {
      receive(pair.first);
      send(pair.first);
    }
    samples.push_back(seconds_since(begin) / 2);
  }
  barrier();
  return gather(samples.empty() ? 0 : median(samples))[pair.first];
}

double TunedRanks::measure_bandwidth(std::size_t to, std::size_t from) {
  const Block sent = all_.allocate(kBandwidthBytes);
  const Block received = all_.allocate(kBandwidthBytes);
  std::vector<double> samples;
  for (std::size_t i = 0; i < kBandwidthRounds; ++i) {
    barrier();
    const auto begin = Clock::now();
    if (to != rank()) {
      const auto send = all_.submit({.what = {.collective = Collective::kSend, .root = to},
                                     .input = Values(floats_of(sent))});
      const auto receive = all_.submit({.what = {.collective = Collective::kReceive, .root = from},
                                        .values = floats_of(received)});
      all_.wait(send);
      all_.wait(receive);
    }
    samples.push_back(seconds_since(begin));
  }
  return slowest(median(samples)) / kBandwidthBytes;
}

double TunedRanks::measure_messages(std::size_t to, std::size_t from) {
  std::vector<float> sent(1);
  std::vector<float> received(1);
  std::vector<double> samples;
  for (std::size_t i = 0; i < kBandwidthRounds; ++i) {
    barrier();
    const auto begin = Clock::now();
    std::uint64_t last = 0;
    for (std::size_t message = 0; message < kMessages && to != rank(); ++message) {
      all_.submit({.what = {.collective = Collective::kSend, .root = to}, .input = Values(sent)});
      last = all_.submit(
          {.what = {.collective = Collective::kReceive, .root = from}, .values = received});
    }
    if (last > 0) all_.wait(last);
    samples.push_back(seconds_since(begin) / kMessages / 2);
  }
  return slowest(median(samples));
}

double TunedRanks::measure_reduction() {
  const collectives::Reducer reducer(*all_.settings().reductions, DataType::kFloat32,
                                     ReduceOp::kSum, world_size());
  const Block sum = all_.allocate(kReduceBytes);
  const Block term = all_.allocate(kReduceBytes);
  std::vector<double> samples;
  for (std::size_t i = 0; i < kReduceRounds; ++i) {
    barrier();
    const auto begin = Clock::now();
    reducer.add(sum.bytes().data(), term.bytes().data(), kReduceBytes / sizeof(float), false);
    samples.push_back(seconds_since(begin));
  }
  return slowest(median(samples)) / kReduceBytes;
}

CodecCosts TunedRanks::measure_codec(Codec codec) {
  const collectives::Coder coder(*all_.settings().codings, codec, ReduceOp::kSum, rank(),
                                 world_size(), 0);
  constexpr std::size_t kCount = kReduceBytes / sizeof(float);
  const Block values = all_.allocate(kReduceBytes);
  const Block coded = all_.allocate(coder.bytes(kCount));
  constexpr std::size_t kPattern = 251;  // Neighbours differ, as gradients do.
  const std::span<float> floats = floats_of(values);
  for (std::size_t i = 0; i < kCount; ++i) floats[i] = static_cast<float>(i % kPattern);
  std::vector<double> encoding;
  std::vector<double> decoding;
  for (std::size_t i = 0; i < kReduceRounds; ++i) {
    barrier();
    const auto begin = Clock::now();
    coder.encode(coded.bytes().data(), values.bytes().data(), nullptr, kCount, 0, 0, false);
    encoding.push_back(seconds_since(begin));
    const auto middle = Clock::now();
    coder.decode_add(values.bytes().data(), coded.bytes().data(), kCount, false);
    decoding.push_back(seconds_since(middle));
  }
  return {.encode_seconds_per_byte = slowest(median(encoding)) / kReduceBytes,
          .decode_seconds_per_byte = slowest(median(decoding)) / kReduceBytes};
}

Link TunedRanks::measure_link(Pair pair, std::size_t to, std::size_t from) {
  Link link;
  link.latency_seconds = measure_latency(pair);
  link.busy_seconds = std::min(measure_messages(to, from), link.latency_seconds / 2);
  const double whole = measure_bandwidth(to, from);
  link.seconds_per_byte = std::max(whole - link.latency_seconds / kBandwidthBytes, whole / 2);
  return link;
}

WorldModel TunedRanks::measure_model() {
  WorldModel model{.hosts = topology().hosts, .shares_memory = shares_memory()};
  std::vector<std::size_t> firsts;  // The first rank of each host.
  std::vector<std::size_t> own;     // The ranks of this host.
  std::optional<Pair> neighbours;   // Two ranks of one host.
  for (std::size_t rank = 0; rank < model.hosts.size(); ++rank) {
    const std::size_t host = model.hosts[rank];
    if (host == rank) firsts.push_back(rank);
    if (host != rank && !neighbours) neighbours.emplace(host, rank);
    if (host == model.hosts[this->rank()]) own.push_back(rank);
  }
  // Returns the rank that is `by` places after this rank in the ring of `ranks`; this rank itself
  // if it is not among them.
  const auto shift = [&](const std::vector<std::size_t>& ranks, std::size_t by) {
    const auto at = std::ranges::find(ranks, rank());
    if (at == ranks.end()) return rank();
    return ranks[(static_cast<std::size_t>(at - ranks.begin()) + by) % ranks.size()];
  };
  if (neighbours) {
    model.within_host = measure_link(*neighbours, shift(own, 1), shift(own, own.size() - 1));
  }
  if (firsts.size() > 1) {
    model.between_hosts =
        measure_link({firsts[0], firsts[1]}, shift(firsts, 1), shift(firsts, firsts.size() - 1));
  }
  model.reduce_seconds_per_byte = measure_reduction();
  return model;
}

std::vector<Times> TunedRanks::measure_all_reduces(const std::vector<Algorithm>& plans,
                                                   std::size_t bytes, double seconds) {
  const Block block = all_.allocate(bytes);
  std::vector<std::vector<double>> samples(plans.size());
  const auto once = [&](std::size_t i) {
    CommunicatorImpl& ranks = by(plans[i]);
    barrier();
    const auto begin = Clock::now();
    ranks.wait(
        ranks.submit({.what = {.collective = Collective::kAllReduce}, .values = floats_of(block)}));
    return seconds_since(begin);
  };
  double round = 0;
  for (std::size_t i = 0; i < 2 * plans.size(); ++i) {
    const double time = once(i % plans.size());
    if (i >= plans.size()) round += time;  // The first runs only make plans and touch memory.
  }
  const double wanted = seconds / std::max(as_rank_0_says(round), 1e-9);
  const auto rounds = static_cast<std::size_t>(
      std::clamp(wanted, static_cast<double>(kLeastRounds), static_cast<double>(kMostRounds)));
  for (std::size_t k = 0; k < rounds; ++k) {
    for (std::size_t i = 0; i < plans.size(); ++i) samples[i].push_back(once(i));
  }
  std::vector<Times> times;
  for (const auto& of_plan : samples) {
    std::vector<double> of_slowest;
    of_slowest.reserve(of_plan.size());
    for (const double sample : of_plan) of_slowest.push_back(slowest(sample));
    times.push_back({median(of_slowest), std::ranges::min(of_slowest)});
  }
  return times;
}

}  // namespace rota::bench
