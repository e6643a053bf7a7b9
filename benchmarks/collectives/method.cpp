// The loops that time a collective.
#include "collectives/method.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

#include "collectives/loss.h"
#include "collectives/touch.h"
#include "peak_memory.h"
#include "statistics.h"

namespace rota::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostCallsBackToBack = 1000;
constexpr std::size_t kBytesBackToBack = 16 << 20;
constexpr std::size_t kSamplesBackToBack = 5;
constexpr std::size_t kMostIterations = 500;
constexpr std::size_t kLeastIterations = 7;
constexpr std::size_t kBytesOfIterations = 256 << 20;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// One way to measure a piece of work.
struct Manner {
  Memory memory;
  State state;
  Calls calls;
};

// Returns the manners for one size, in the order of the table.
std::vector<Manner> manners_of(const Method& method, Memory memory, std::size_t bytes) {
  std::vector<Manner> manners;
  for (const State state : method.states) {
    for (const Calls calls : method.calls) {
      const bool can_follow = state == State::kWarm && bytes <= kMostBackToBack;
      if (calls == Calls::kIsolated || can_follow) manners.push_back({memory, state, calls});
    }
  }
  return manners;
}

// One piece of work of one group, prepared for timing.
class Subject {
 public:
  Subject(Group& group, const Work& work, const Buffers& buffers)
      : group_(group),
        work_(work),
        buffers_(buffers),
        layout_(layout_of(work, group.rank(), group.world_size())),
        call_(group.prepare(work, buffers)) {}

  bool exists() const { return call_.make != nullptr; }
  const std::string& plan() const { return call_.plan; }

  double isolated_call(State state) const {
    if (state == State::kFresh) rewrite(run_of(buffers_.input, layout_.input));
    group_.barrier();
    const auto begin = Clock::now();
    call_.make();
    if (state == State::kFresh) read_all(run_of(buffers_.output, layout_.output));
    return seconds_since(begin);
  }

  double calls_back_to_back(std::size_t count) const {
    group_.barrier();
    const auto begin = Clock::now();
    for (std::size_t call = 0; call < count; ++call) call_.make();
    return seconds_since(begin) / static_cast<double>(count);
  }

  // Sets the buffers to zero: other values would grow from call to call, but the sum of zeros is
  // zero.
  void clear() const {
    rewrite(run_of(buffers_.input, {0, work_.total}));
    rewrite(run_of(buffers_.output, {0, work_.total}));
  }

  // Returns the loss of a codec on this rank.
  Loss loss() const {
    write_floats(work_, group_.rank(), buffers_);
    group_.barrier();
    call_.make();
    return loss_of(work_, group_.world_size(), buffers_);
  }

  // Returns the number of wrong elements on this rank.
  std::size_t errors() const {
    write_values(work_, group_.rank(), group_.world_size(), buffers_);
    group_.barrier();
    call_.make();
    return count_errors(work_, group_.rank(), group_.world_size(), buffers_);
  }

 private:
  std::span<std::byte> run_of(std::byte* buffer, Slice slice) const {
    if (slice.count == 0) return {};
    const std::size_t size = bytes_of(work_.type);
    return {buffer + slice.offset * size, slice.count * size};
  }

  Group& group_;
  Work work_;
  Buffers buffers_;
  Layout layout_;
  PreparedCall call_;
};

// Returns fewer calls for larger sizes, which take longer.
std::size_t default_back_to_back(std::size_t bytes) noexcept {
  return std::min(kMostCallsBackToBack, kBytesBackToBack / std::max<std::size_t>(1, bytes));
}

std::vector<double> samples_of(const Subject& subject, const Work& work, const Manner& manner,
                               const Method& method) {
  const std::size_t iterations = method.iterations.value_or(default_iterations(work.bytes()));
  const std::size_t in_a_row = method.back_to_back.value_or(default_back_to_back(work.bytes()));
  const bool isolated = manner.calls == Calls::kIsolated;
  const auto sample = [&] {
    return isolated ? subject.isolated_call(manner.state) : subject.calls_back_to_back(in_a_row);
  };
  const std::size_t count = isolated ? iterations : std::min(iterations, kSamplesBackToBack);
  const std::size_t warm_up = isolated ? warm_up_calls(iterations) : 1;
  for (std::size_t i = 0; i < warm_up; ++i) sample();
  std::vector<double> samples(count);
  for (double& seconds : samples) seconds = sample();
  return samples;
}

// Replaces each of `values` by the combination of all ranks' values.
template <class Combine>
void combine_all(Group& group, std::span<double> values, const Combine& combine) {
  const std::vector<double> all = group.gather_from_all(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = all[i];
    for (std::size_t at = i + values.size(); at < all.size(); at += values.size()) {
      values[i] = combine(values[i], all[at]);
    }
  }
}

double largest(double a, double b) { return std::max(a, b); }

std::size_t errors_of_all(Group& group, const Subject& subject) {
  auto errors = static_cast<double>(subject.errors());
  combine_all(group, {&errors, 1}, std::plus<>());
  return static_cast<std::size_t>(errors);
}

// Checks that all ranks have the same bits. A rank whose bits differ from rank 0's counts as an
// error.
void check_loss(Group& group, const Subject& subject, Row& row) {
  const Loss loss = subject.loss();
  double digest = loss.digest;
  row.relative_error = loss.relative_error;
  const std::vector<double> digests = group.gather_from_all({&digest, 1});
  row.errors = digests.size() - static_cast<std::size_t>(std::ranges::count(digests, digests[0]));
}

std::string name_of(const Group& group, const Work& work) {
  std::string name = group.name();
  if (work.plan != "auto") name += " " + work.plan;
  if (work.codec != Codec::kIdentity) name += " " + std::string(to_string(work.codec));
  return name;
}

Row row_of(Group& group, const Subject& subject, const Work& work, const Manner& manner,
           const Method& method) {
  subject.clear();
  std::vector<double> samples = samples_of(subject, work, manner, method);
  combine_all(group, samples, largest);
  auto peak_memory = static_cast<double>(peak_memory_bytes());
  combine_all(group, {&peak_memory, 1}, largest);
  Row row{.name = name_of(group, work),
          .ranks = group.world_size(),
          .work = work,
          .plan = subject.plan(),
          .memory = manner.memory,
          .state = manner.state,
          .calls = manner.calls,
          .min_seconds = std::ranges::min(samples),
          .median_seconds = median(samples),
          .p99_seconds = percentile(samples, 99),
          .errors = {},
          .peak_memory_bytes = static_cast<std::size_t>(peak_memory)};
  if (method.checks && work.codec != Codec::kIdentity) {
    check_loss(group, subject, row);
  } else if (method.checks) {
    row.errors = errors_of_all(group, subject);
  }
  return row;
}

// Reports a line for each way to call. In place, the output buffer is also the input buffer.
void measure_work(Group& group, const Method& method, Work work, const Buffers& buffers,
                  Memory memory, const std::function<void(const Line&)>& report) {
  const std::vector<Manner> manners = manners_of(method, memory, work.bytes());
  std::vector<Line> lines(manners.size());
  for (const Placement placement : method.placements) {
    const bool in_place = placement == Placement::kInPlace;
    work.placement = placement;
    const Subject subject(group, work,
                          in_place ? Buffers{buffers.output, buffers.output} : buffers);
    if (!subject.exists()) continue;
    for (std::size_t i = 0; i < manners.size(); ++i) {
      (in_place ? lines[i].in_place : lines[i].out_of_place) =
          row_of(group, subject, work, manners[i], method);
    }
  }
  for (const Line& line : lines) {
    if (line.out_of_place || line.in_place) report(line);
  }
}

// Returns the operations to measure. A collective without an operation gets one entry, kSum.
std::vector<ReduceOp> ops_of(const Method& method, Collective collective, DataType type) {
  if (!reduces(collective)) return {ReduceOp::kSum};
  std::vector<ReduceOp> ops = method.ops;
  std::erase_if(ops, [&](ReduceOp op) { return !why_not(op, type).empty(); });
  return ops;
}

// Returns the codecs that support this collective, type and operation.
std::vector<Codec> codecs_of(const Method& method, Collective collective, DataType type,
                             ReduceOp op) {
  if (collective != Collective::kAllReduce) return {Codec::kIdentity};
  std::vector<Codec> codecs = method.codecs;
  std::erase_if(codecs,
                [&](Codec codec) { return !why_not(Reduction(op).by(codec), type).empty(); });
  return codecs;
}

// Returns the plans to measure. A coded all-reduce has only one plan.
std::vector<std::string> plans_of(const Method& method, Collective collective, Codec codec) {
  const bool has_choice = collective == Collective::kAllReduce && codec == Codec::kIdentity;
  return has_choice ? method.plans : std::vector<std::string>{"auto"};
}

std::vector<Work> works_of(const Method& method, Collective collective, std::size_t ranks) {
  if (collective == Collective::kBarrier) return {Work{.collective = collective}};
  std::vector<Work> works;
  for (const DataType type : method.types) {
    for (const ReduceOp op : ops_of(method, collective, type)) {
      for (const Codec codec : codecs_of(method, collective, type, op)) {
        const auto plans = plans_of(method, collective, codec);
        for (std::size_t i = 0; i < method.sizes.size() * plans.size(); ++i) {
          works.push_back(
              {.collective = collective,
               .type = type,
               .op = op,
               .codec = codec,
               .plan = plans[i % plans.size()],
               .total = total_of(collective, type, method.sizes[i / plans.size()], ranks)});
        }
      }
    }
  }
  return works;
}

}  // namespace

std::size_t default_iterations(std::size_t bytes) noexcept {
  return std::clamp(kBytesOfIterations / std::max<std::size_t>(1, bytes), kLeastIterations,
                    kMostIterations);
}

std::size_t warm_up_calls(std::size_t iterations) noexcept {
  return std::max<std::size_t>(2, iterations / 5);
}

void measure(Group& group, const Method& method, const std::function<void(const Line&)>& report) {
  std::vector<Work> works;
  for (const Collective collective : method.collectives) {
    const auto more = works_of(method, collective, group.world_size());
    works.insert(works.end(), more.begin(), more.end());
  }
  std::size_t most_bytes = 1;
  for (const Work& work : works) most_bytes = std::max(most_bytes, work.bytes());
  for (const Memory memory : method.memories) {
    const auto input = group.allocate(most_bytes, memory);
    const auto output = group.allocate(most_bytes, memory);
    for (const Work& work : works) {
      measure_work(group, method, work, {input.get(), output.get()}, memory, report);
    }
  }
}

}  // namespace rota::bench
