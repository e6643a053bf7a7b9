// The micro-batches of a Trainer's steps: gathered when they are needed, or ahead by a thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <rota/export.h>
#include <rota/prefetch.h>
#include <rota/source.h>
#include <rota/training_loop.h>
#include <rota/values.h>

namespace rota {

// Used by Trainer. B is the batch type of its model.
template <class B>
class ROTA_EXPORT MicroBatches {
 public:
  // The options are checked already.
  MicroBatches(SampleSource<B> source, const TrainerOptions& options)
      : source_(std::move(source)), seed_(options.seed), parts_(options.accumulation_steps) {
    if (options.prefetch > 0) prefetch_.emplace(source_, (options.prefetch + 1) * parts_);
  }

  // Announces the samples of a step. Without a thread, they are borrowed until the next call, and
  // the announced step is the next one.
  void expect(std::span<const std::uint64_t> samples, std::uint64_t step) {
    run_ = {samples, seed_, step};
    part_ = 0;
    if (!prefetch_) return;
    for (std::size_t part = 0; part < parts_; ++part) prefetch_->ask(part_of_run(part));
  }

  // The next micro-batch, of the steps in the order of their announcements. Valid until the next
  // call. Throws what the source throws.
  const B& next() {
    if (prefetch_) return prefetch_->next();
    return now_.emplace(source_.gather(part_of_run(part_++)));
  }

  // Forgets the steps that were announced and not taken.
  void forget() noexcept {
    if (prefetch_) prefetch_->forget();
  }

 private:
  SampleRun part_of_run(std::size_t part) const {
    const Slice slice = slice_of(run_.samples.size(), part, parts_);
    return {run_.samples.subspan(slice.offset, slice.count), run_.seed, run_.step};
  }

  SampleSource<B> source_;
  std::uint64_t seed_;
  std::size_t parts_;  // Micro-batches in a step.
  SampleRun run_;
  std::size_t part_ = 0;  // The next one of run_. Only without a thread.
  std::optional<B> now_;
  std::optional<Prefetch<B>> prefetch_;
};

}  // namespace rota
