// Benchmarks of the smallest calls of a communicator, between ranks or between two threads. The
// number of calls is fixed, since all ranks must make the same number. If Google Benchmark chose
// the number, it would be different on each rank.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>

#include "commands.h"

namespace rota::bench {
namespace {

using Call = std::function<void(Communicator&)>;

constexpr benchmark::IterationCount kCalls = 1000;
constexpr int kRepetitions = 21;

struct Subject {
  const char* name;
  Call call;
};

void all_reduce(Communicator& comm) {
  thread_local std::vector<float> value(1);
  comm.all_reduce(value, ReduceOp::kSum);
}

void barrier(Communicator& comm) { comm.barrier(); }

// Only ranks 0 and 1 take part.
void ping_pong(Communicator& comm) {
  thread_local std::vector<float> value(1);
  if (comm.rank() == 0) {
    comm.send(value, 1);
    comm.receive(value, 1);
  } else if (comm.rank() == 1) {
    comm.receive(value, 0);
    comm.send(value, 0);
  }
}

// `ranks` are the ranks of this process. The first one is timed; each of the others has its own
// thread.
void measure(benchmark::State& state, std::vector<Communicator>& ranks, const Call& call) {
  const benchmark::IterationCount calls = state.max_iterations;
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    others.emplace_back([&comm = ranks[i], &call, calls] {
      comm.barrier();
      for (benchmark::IterationCount k = 0; k < calls; ++k) call(comm);
    });
  }
  ranks.front().barrier();
  for ([[maybe_unused]] auto _ : state) call(ranks.front());
}

double least(const std::vector<double>& samples) { return std::ranges::min(samples); }

// The reporter for all ranks except rank 0: it prints nothing.
class Silence final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

std::vector<Communicator> join() {
  std::vector<Communicator> ranks;
  const auto options = CommunicatorOptions::from_environment();
  if (options.rendezvous_fd || options.by_hand) ranks.emplace_back(options);
  if (ranks.empty()) ranks = Communicator::for_threads(2, options);
  return ranks;
}

}  // namespace

int run_latency_benchmarks(int argument_count, char** arguments) {
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 2;
  std::vector<Communicator> ranks = join();
  const Communicator& own = ranks.front();
  if (own.world_size() < 2) {
    std::fputs("rota-bench latency: one rank has no peer to talk to; use rotarun -np 2\n", stderr);
    return 2;
  }
  const std::string where = "/" + own.rank_table().transport + "/" +
                            std::to_string(own.world_size()) +
                            (ranks.size() > 1 ? "_threads" : "_ranks");
  for (const Subject& subject :
       {Subject{"all_reduce_of_4_bytes", all_reduce}, Subject{"barrier", barrier},
        Subject{"message_there_and_back", ping_pong}}) {
    benchmark::RegisterBenchmark(
        (subject.name + where).c_str(),
        [&ranks, call = subject.call](benchmark::State& state) { measure(state, ranks, call); })
        ->Iterations(kCalls)
        ->Repetitions(kRepetitions)
        ->ReportAggregatesOnly()
        ->ComputeStatistics("least", least)
        ->UseRealTime()
        ->Unit(benchmark::kNanosecond);
  }
  Silence silence;
  if (own.rank() == 0) {
    benchmark::RunSpecifiedBenchmarks();
  } else {
    benchmark::RunSpecifiedBenchmarks(&silence);
  }
  return 0;
}

}  // namespace rota::bench
