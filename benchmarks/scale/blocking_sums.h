// Sums gradients by blocking calls of a library, in a thread of their own. Horovod and PyTorch's
// DDP use MPI and Gloo so.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <rota/gradient_buckets.h>

#include "collectives/group.h"
#include "scale/sums.h"

namespace rota::bench {

// Has the same buckets as rota by default. Only its thread calls the library in a step. So the
// library must allow calls of several threads, one at a time.
class BlockingSums final : public Sums {
 public:
  // Collective. `group` is borrowed, and must outlive this object. Throws std::runtime_error if the
  // group has no all-reduce of floats.
  BlockingSums(Group& group, std::span<const std::size_t> counts);
  ~BlockingSums() override;
  BlockingSums(const BlockingSums&) = delete;
  BlockingSums& operator=(const BlockingSums&) = delete;

  std::span<float> gradient(std::size_t index) override;
  void begin() override;
  void ready(std::size_t index) override;
  void wait() override;  // Throws what a call has thrown.

 private:
  void run();
  void make_calls();

  BucketLayout layout_;
  std::shared_ptr<std::byte> memory_;
  std::vector<PreparedCall> calls_;   // By bucket.
  std::vector<std::size_t> missing_;  // By bucket: how many gradients are not ready.
  std::size_t full_ = 0;              // Buckets from the first one on that miss no gradient.

  std::mutex mutex_;  // For the members below.
  std::condition_variable changed_;
  std::size_t wanted_ = 0;  // Buckets of this step whose calls may be made.
  std::size_t done_ = 0;    // Buckets of this step that are summed.
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // The last member: it uses all others.
};

}  // namespace rota::bench
