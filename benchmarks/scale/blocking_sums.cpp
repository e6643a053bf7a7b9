// Hands full buckets to the thread that makes the calls.
#include "scale/blocking_sums.h"

#include <stdexcept>

namespace rota::bench {

BlockingSums::BlockingSums(Group& group, std::span<const std::size_t> counts)
    : layout_(lay_out_buckets(counts, sizeof(float), {}, group.world_size())),
      memory_(group.allocate(layout_.count * sizeof(float), Memory::kShared)) {
  for (const Slice& bucket : layout_.buckets) {
    std::byte* const at = memory_.get() + bucket.offset * sizeof(float);
    calls_.push_back(group.prepare({.total = bucket.count}, {at, at}));
    if (!calls_.back().make) throw std::runtime_error(group.name() + " has no sums of floats");
  }
  thread_ = std::thread([this] { run(); });
}

BlockingSums::~BlockingSums() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::span<float> BlockingSums::gradient(std::size_t index) {
  const Slice& slice = layout_.gradients[index];
  return {reinterpret_cast<float*>(memory_.get()) + slice.offset, slice.count};
}

void BlockingSums::begin() {
  missing_ = layout_.population;
  full_ = 0;
  const std::lock_guard lock(mutex_);
  wanted_ = 0;
  done_ = 0;
}

void BlockingSums::ready(std::size_t index) {
  --missing_[layout_.bucket_of[index]];
  const std::size_t before = full_;
  while (full_ < missing_.size() && missing_[full_] == 0) ++full_;
  if (full_ == before) return;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = full_;
  }
  changed_.notify_all();
}

void BlockingSums::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ == calls_.size() || failure_ != nullptr; });
  if (failure_) std::rethrow_exception(failure_);
}

void BlockingSums::run() {
  try {
    make_calls();
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    changed_.notify_all();
  }
}

void BlockingSums::make_calls() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || done_ < wanted_; });
    if (ends_) return;
    const PreparedCall& call = calls_[done_];
    lock.unlock();
    call.make();
    lock.lock();
    ++done_;
    if (done_ == calls_.size()) changed_.notify_all();
  }
}

}  // namespace rota::bench
