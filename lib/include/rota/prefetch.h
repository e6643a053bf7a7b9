// Batches that a thread gathers while the program computes on earlier ones. A Trainer has one, see
// TrainerOptions::prefetch.
//
//   rota::Prefetch<Points> points(source, 2);
//   points.ask({first_samples});
//   for (…) {
//     points.ask({next_samples});  // Is gathered during the step.
//     step(points.next());
//   }
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <rota/export.h>
#include <rota/source.h>

namespace rota {

// Used by Prefetch: its thread, and the order of its slots. Each slot has memory for one batch.
class ROTA_EXPORT PrefetchThread {
 public:
  // Calls gather(slot) on the thread, for one slot after another. `gather` must not throw. Throws
  // Error kInvalidArgument if `depth` is 0; kSystem.
  PrefetchThread(std::size_t depth, std::function<void(std::size_t)> gather);
  ~PrefetchThread();

  std::size_t slot_to_ask() const;  // Throws Error kInvalidArgument if all slots are taken.
  void ask();                       // Hands that slot to the thread.
  std::size_t next();               // See Prefetch.
  void forget() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Gathers batches in the order in which they are asked for, so they are the batches that the source
// gives without a thread. Allocates nothing of its own after the first batches. One thread at a
// time may use a Prefetch.
template <class B>
class ROTA_EXPORT Prefetch {
 public:
  // Up to `depth` batches are asked for and not returned yet. Copies `source`, see SampleSource:
  // the copies are called on another thread, one at a time. What they refer to must outlive this
  // object. Throws Error kInvalidArgument if `depth` is 0; kSystem if no thread can be started.
  Prefetch(const SampleSource<B>& source, std::size_t depth)
      : slots_(std::make_shared<Slots>(depth + 1, Slot{.gather = source.gather})),
        thread_(depth, [slots = slots_](std::size_t slot) { gather((*slots)[slot]); }) {}
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // Copies `run`. Never waits. Throws Error kInvalidArgument if `depth` batches are asked for.
  void ask(const SampleRun& run) {
    Slot& slot = (*slots_)[thread_.slot_to_ask()];
    slot.samples.assign(run.samples.begin(), run.samples.end());
    slot.seed = run.seed;
    slot.step = run.step;
    thread_.ask();
  }

  // The first batch that was asked for and not returned yet. Waits until it is gathered. Valid
  // until the next call. Throws what its gather() threw; the batches after it are still there.
  // Throws Error kInvalidArgument if no batch was asked for.
  const B& next() {
    Slot& slot = (*slots_)[thread_.next()];
    if (slot.failure) std::rethrow_exception(std::exchange(slot.failure, nullptr));
    return *slot.batch;
  }

  // Forgets the batches that were asked for. Waits for the one that is being gathered, if any. So
  // does the destructor.
  void forget() noexcept { thread_.forget(); }

 private:
  struct Slot {
    std::function<B(const SampleRun&)> gather;
    std::vector<std::uint64_t> samples = {};
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
    std::optional<B> batch = {};
    std::exception_ptr failure = {};
  };
  using Slots = std::vector<Slot>;

  static void gather(Slot& slot) noexcept {
    try {
      slot.failure = nullptr;
      slot.batch.emplace(slot.gather({slot.samples, slot.seed, slot.step}));
    } catch (...) {
      slot.failure = std::current_exception();
    }
  }

  // The thread has a share, because the child of a fork must not destroy a batch that is being
  // gathered.
  std::shared_ptr<Slots> slots_;
  PrefetchThread thread_;
};

}  // namespace rota
