// Collectives over shared memory are right in every order in which ranks can run. Each read comes
// after the write that it needs, and each write after every earlier access; only the ranks' waits
// ensure this order. Each element gets each contribution once, in the documented order. Method: the
// library's own window of operations runs for all ranks in one thread. The sources of the window
// are compiled with the calls that a compiler inserts for a race detector. HappensBefore receives
// these calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "collectives/plan_run.h"
#include "collectives/shared/run.h"
#include "communicator/window.h"
#include "kernels/codings.h"
#include "kernels/reductions.h"
#include "testing/happens_before.h"

namespace calls {
namespace {

using rota::testing::HappensBefore;

// Set while a rank under proof runs library code; otherwise null.
HappensBefore* watcher = nullptr;

void note_caller(const void*) {}

bool is_shared(const volatile void* address) {
  return watcher && watcher->is_watched(const_cast<const void*>(address));
}

void before_load(const void* address, std::size_t bytes) {
  if (watcher) watcher->read(address, bytes);
}
void before_store(void* address, std::size_t bytes) {
  if (watcher) watcher->write(address, bytes);
}

template <class T>
T load(const volatile T* address, int order) {
  if (!is_shared(address)) return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  const bool acquires = order != __ATOMIC_RELAXED;
  return static_cast<T>(watcher->load(const_cast<const T*>(address), sizeof(T), acquires));
}

template <class T>
void store(volatile T* address, T value, int order) {
  if (!is_shared(address)) return __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  watcher->store(const_cast<T*>(address), sizeof(T), value, order != __ATOMIC_RELAXED);
}

// Never called: the library changes no shared word with an atomic read-modify-write.
template <class T, class F>
T modify(volatile T*, int, int, F) {
  std::abort();
}
template <class T>
bool compare_exchange(volatile T* address, T* expected, T desired, int, int) {
  if (is_shared(address)) std::abort();
  return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

// Fences are ignored, so the proof does not rely on them.
void fence(int) {}

}  // namespace
}  // namespace calls

#include "testing/race_detector_calls.h"

// NOLINTBEGIN: the names are the linker's.
extern "C" {
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  calls::before_load(from, bytes);
  calls::before_store(to, bytes);
  return __real_memcpy(to, from, bytes);
}
}
// NOLINTEND

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;
using collectives::PlannedCollective;
using testing::HappensBefore;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStageBytes = 256 * 1024;
constexpr std::array<transport::Channel*, 64> kNoChannels{};

// In this file, a job is one collective of the sequence that all ranks run.
struct Job {
  Collective collective = Collective::kAllReduce;
  std::size_t count = 0;
  bool in_place = true;
  bool is_private = false;  // Other ranks cannot reach the values of rank 0.
  std::uint32_t root = 0;
};

float value_of(std::size_t rank, std::size_t job, std::size_t i) {
  return 1.0F / static_cast<float>(3 + i + 7 * rank + 13 * job);
}

// Returns the values that a job must leave. Without a root, the values of chunk c are added in the
// order of the ranks c + 1, c + 2, …, c. With the root r, the order is r + 1, r + 2, …, r.
std::vector<float> result_of(const Job& job, std::size_t number, std::size_t n) {
  std::vector<float> result(job.count);
  for (std::size_t c = 0; c < n; ++c) {
    const Slice chunk = chunk_of(job.count, c, n);
    const std::size_t last = job.collective == Collective::kAllReduce ? c : job.root;
    for (std::size_t i = chunk.offset; i < chunk.offset + chunk.count; ++i) {
      if (job.collective == Collective::kBroadcast) {
        result[i] = value_of(job.root, number, i);
        continue;
      }
      result[i] = value_of((last + 1) % n, number, i);
      for (std::size_t hop = 2; hop <= n; ++hop) {
        result[i] += value_of((last + hop) % n, number, i);
      }
    }
  }
  return result;
}

// The memory of a rank has this many places for the values of jobs: job i uses place i % kPlaces.
// Each place begins at a page boundary. The input of a job lies behind its values.
constexpr std::size_t kPlaces = 12;

std::vector<std::size_t> places_of(const std::vector<Job>& jobs) {
  std::vector<std::size_t> places{kPage};
  for (std::size_t place = 0; place < kPlaces; ++place) {
    std::size_t pages = 1;
    for (std::size_t i = place; i < jobs.size(); i += kPlaces) {
      pages = std::max(pages, 2 * (jobs[i].count * sizeof(float) / kPage + 1));
    }
    places.push_back(places.back() + pages * kPage);
  }
  return places;
}

// Owns nothing: the memory outlives its blocks.
class Room final : public Block::Owner {
 public:
  void release(std::span<std::byte>) noexcept override {}
};

// The memory of a rank is | page | values and inputs of jobs | stage |.
class Rank {
 public:
  Rank(std::size_t rank, std::size_t world_size, std::span<std::byte> memory,
       std::size_t bytes_each, const std::vector<Job>& jobs,
       const std::vector<std::vector<float>>& results)
      : rank_(rank), jobs_(jobs), results_(results), places_(places_of(jobs)), own_(jobs.size()) {
    shared_.rank = rank;
    for (std::size_t r = 0; r < world_size; ++r) {
      const auto all = memory.subspan(r * bytes_each, bytes_each);
      shared_.ranks.push_back({reinterpret_cast<transport::SharedPage*>(all.data()), all});
    }
    memory_ = shared_.ranks[rank].memory;
    shared_.abort_word = &abort_word_;
    shared_.allocate = [this](std::size_t bytes) {
      return Block(memory_.last(kStageBytes).first(bytes), std::make_shared<Room>());
    };
    const auto channels = std::span(kNoChannels).first(world_size);
    methods_.push_back(std::make_unique<collectives::SharedCollectives>(shared_, channels));
    window_.emplace(queue_, methods_, nullptr);
  }

  static std::size_t memory_bytes(const std::vector<Job>& jobs) {
    return places_of(jobs).back() + kStageBytes;
  }

  bool is_done() const { return queue_.finished() == jobs_.size(); }

  // Starts collectives while fewer than `ahead` started collectives are unchecked. Moves the
  // started collectives until none can move, and checks those that are done.
  void turn(HappensBefore& watcher, std::size_t ahead) {
    watcher.enter(rank_);
    while (queue_.submitted() < jobs_.size() && queue_.submitted() - checked_ < ahead) {
      call(watcher, queue_.submitted());
    }
    calls::watcher = &watcher;
    window_->turn();
    calls::watcher = nullptr;
    for (; checked_ < queue_.submitted() && queue_.is_done(checked_ + 1); ++checked_) {
      check(watcher, checked_);
    }
  }

 private:
  std::byte* slot(std::size_t job, bool is_input) {
    const std::size_t behind =
        is_input ? (jobs_[job].count * sizeof(float) / kPage + 1) * kPage : 0;
    if (!jobs_[job].is_private || rank_ != 0) {
      return memory_.data() + places_[job % kPlaces] + behind;
    }
    own_[job].resize(2 * (jobs_[job].count * sizeof(float) + kPage));
    return own_[job].data() + behind;
  }

  // Records the writes of the program before the call, and queues the call.
  void call(HappensBefore& watcher, std::size_t number) {
    const Job& job = jobs_[number];
    const std::size_t bytes = job.count * sizeof(float);
    std::byte* const from = slot(number, !job.in_place);
    watcher.write(from, bytes);
    watcher.write(slot(number, false), bytes);
    for (std::size_t i = 0; i < job.count; ++i) {
      const float value = value_of(rank_, number, i);
      __real_memcpy(from + i * sizeof(float), &value, sizeof value);
    }
    PlannedCollective& planned =
        planned_.emplace_back(PlannedCollective{.reducer = reducer(), .coder = coder_});
    planned.call = {.collective = job.collective,
                    .algorithm = Algorithm::kShared,
                    .count = job.count,
                    .root = job.root,
                    .in_place = job.in_place};
    planned.signature = {planned.call, rank_};
    planned.value_bytes = bytes;
    planned.input_bytes = job.in_place ? 0 : bytes;
    QueuedOperation& operation = queue_.next_slot();
    operation = {};
    operation.planned = &planned;
    operation.buffers = {slot(number, false), job.in_place ? nullptr : from};
    operation.sequence = number + 1;
    queue_.push();
  }

  collectives::Reducer reducer() const {
    return {kernels::reference<kernels::Reductions>(), DataType::kFloat32, ReduceOp::kSum,
            shared_.ranks.size()};
  }

  bool gets_result(const Job& job) const {
    return job.collective == Collective::kAllReduce || job.collective == Collective::kBroadcast ||
           (job.collective == Collective::kReduce && rank_ == job.root);
  }

  // Records the reads of the program after the call, and checks the result.
  void check(HappensBefore& watcher, std::size_t number) {
    const Job& job = jobs_[number];
    if (!gets_result(job)) return;
    const std::size_t bytes = job.count * sizeof(float);
    watcher.read(slot(number, false), bytes);
    ASSERT_EQ(std::memcmp(slot(number, false), results_[number].data(), bytes), 0)
        << "call " << number << ", rank " << rank_;
  }

  std::size_t rank_;
  const std::vector<Job>& jobs_;
  const std::vector<std::vector<float>>& results_;  // Index = job.
  std::vector<std::size_t> places_;
  std::vector<std::vector<std::byte>> own_;  // Index = job: values that other ranks cannot reach.
  std::span<std::byte> memory_;
  std::atomic<std::uint32_t> abort_word_{0};
  transport::SharedMemory shared_;
  std::vector<std::unique_ptr<collectives::Method>> methods_;
  OperationQueue queue_;
  std::optional<Window> window_;
  std::deque<PlannedCollective> planned_;
  collectives::Coder coder_{
      kernels::reference<kernels::Codings>(), Codec::kIdentity, ReduceOp::kSum, 0, 1, 0};
  std::size_t checked_ = 0;  // Number of calls that are done and checked.
};

// Returns more jobs than a rank's page of flags has posts, with jobs of every kind among them.
std::vector<Job> jobs_of(std::size_t n) {
  const std::size_t page = kPage / sizeof(float);
  const std::size_t few_pages = n / 2 * page + 5;     // Some ranks have no slice.
  const std::size_t pages = n * page + page / 2 + 3;  // Every rank has a slice.
  const auto last = static_cast<std::uint32_t>(n - 1);
  std::vector<Job> jobs{{.count = 1},
                        {.count = 12},
                        {.count = few_pages},
                        {.collective = Collective::kBarrier},
                        {.collective = Collective::kBroadcast, .count = pages, .root = last},
                        {.count = pages, .in_place = false},
                        {.collective = Collective::kReduce, .count = few_pages, .root = last},
                        {.collective = Collective::kBroadcast, .count = 7},
                        {.collective = Collective::kReduce, .count = 3, .root = last},
                        {.count = 13},
                        {.count = 70'000, .is_private = true},  // In two segments.
                        {.count = page}};
  for (std::size_t i = 0; i < 12; ++i) jobs.push_back({.count = i % 3 * page + i});
  return jobs;
}

Block allocate_pages(std::size_t bytes) {
  class Heap final : public Block::Owner {
    void release(std::span<std::byte> given) noexcept override { std::free(given.data()); }
  };
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kPage, bytes));
  std::memset(memory, 0, bytes);
  return {{memory, bytes}, std::make_shared<Heap>()};
}

// Runs all jobs. A rank starts at most `ahead` collectives more than it has completed.
void prove(std::size_t n, const std::vector<Job>& jobs, std::size_t ahead) {
  const std::size_t bytes_each = Rank::memory_bytes(jobs);
  const Block block = allocate_pages(n * bytes_each);
  HappensBefore watcher(n, block.bytes());
  std::vector<std::vector<float>> results;
  for (std::size_t i = 0; i < jobs.size(); ++i) results.push_back(result_of(jobs[i], i, n));
  std::deque<Rank> ranks;
  for (std::size_t r = 0; r < n; ++r) {
    ranks.emplace_back(r, n, block.bytes(), bytes_each, jobs, results);
  }
  int turns = 0;
  while (!std::ranges::all_of(ranks, &Rank::is_done)) {
    ASSERT_LT(++turns, 100'000) << "ranks wait for ever";
    for (Rank& rank : ranks) rank.turn(watcher, ahead);
    ASSERT_FALSE(watcher.flaw()) << *watcher.flaw();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

class SharedProofTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SharedProofTest, EightAtATime) { prove(GetParam(), jobs_of(GetParam()), 8); }
INSTANTIATE_TEST_SUITE_P(Worlds, SharedProofTest, ::testing::Range<std::size_t>(1, 65),
                         ::testing::PrintToStringParamName());

TEST(SharedProof, OneByOne) {
  for (std::size_t n = 1; n <= 8; ++n) prove(n, jobs_of(n), 1);
}

}  // namespace
}  // namespace rota
