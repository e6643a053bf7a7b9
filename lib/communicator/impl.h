// What a Communicator is made of. Two threads may meet here, the caller's and the progress thread;
// one atomic exchange decides which of them drives.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <rota/communicator.h>

#include "communicator/backoff.h"
#include "communicator/driver.h"
#include "communicator/group.h"
#include "communicator/operation_queue.h"
#include "communicator/plan_cache.h"
#include "communicator/progress_thread.h"
#include "communicator/request_source.h"

namespace rota {

class Communicator::Impl final : public Request::Source {
 public:
  // Throws Error kInvalidArgument for a plan or kernels that do not exist.
  Impl(Group group, const CommunicatorOptions& options);
  ~Impl() override { close(); }

  const Group& group() const noexcept { return group_; }

  // Each queues a collective and returns its number. Throws Error kInvalidArgument, and what broke
  // the communicator.
  std::uint64_t all_reduce(Values values, ReduceOp op);
  std::uint64_t reduce_scatter(Values values, ReduceOp op);
  std::uint64_t all_gather(Values values);
  std::uint64_t broadcast(Values values, std::size_t root);
  std::uint64_t barrier();

  // Makes sure that what was submitted goes on without a waiting thread.
  void run_unattended();

  void wait(std::uint64_t number) override;
  bool test(std::uint64_t number) override;

  void abort(std::string_view reason) noexcept;
  void close() noexcept;

  Block allocate(std::size_t bytes);

 private:
  std::uint64_t submit(const PlanKey& key, Values values);
  bool finished(std::uint64_t number) const noexcept { return queue_.finished() >= number; }
  bool broken() const noexcept { return broken_.load(std::memory_order_acquire); }
  bool try_to_drive() noexcept { return !driving_.test_and_set(std::memory_order_acquire); }
  void stop_driving() noexcept { driving_.clear(std::memory_order_release); }

  // One turn of whoever drives, and the rest after it if nothing moved. The only place that
  // catches what the data path throws.
  void drive(Backoff& backoff) noexcept;
  bool drive_unattended() noexcept;
  void break_with(const Error& error) noexcept;  // By whoever drives.
  [[noreturn]] void throw_cause() const;

  Group group_;
  OperationQueue queue_;
  Driver driver_;
  PlanCache plans_;
  collectives::Algorithm all_reduce_algorithm_;

  std::atomic_flag driving_;
  std::atomic<int> waiters_{0};
  std::atomic<bool> broken_{false};
  std::optional<Error> cause_;  // Written once, before broken_.
  bool closed_ = false;
  ProgressThread progress_thread_;
};

}  // namespace rota
