// Where the replicas of a model live: one in each process, or several as threads of each. The
// program that trains is the same; it is run once for each replica that this process holds:
//
//   rota::MirroredStrategy strategy({.replicas = 2});  // Or: rota::MultiWorkerStrategy strategy;
//   strategy.run([&](rota::Communicator& communicator) {
//     rota::Trainer<float> trainer(communicator, model(), train, test, options);
//     trainer.run();
//   });
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/options.h>

namespace rota {

// What strategies have in common: each is a Communicator for every replica of this process.
class ROTA_EXPORT Strategy {
 public:
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  std::size_t replica_count() const noexcept { return communicators_.size(); }  // Of this process.
  std::size_t world_size() const noexcept { return communicators_.front().world_size(); }  // All.

  // Calls `program` once for each replica of this process, each with a Communicator of its own and
  // at the same time: the first on the calling thread, every other on a thread that ends with the
  // call. Returns when all have ended. What they share, as data that was read once, is for them to
  // read only. One thread at a time may call this.
  // A program that throws breaks its Communicator, so that no replica waits for it, here or in
  // other processes; when all have ended, what the first one threw is thrown here: not what the
  // others were told because of it. kSystem where a thread cannot be started.
  void run(const std::function<void(Communicator&)>& program);

 protected:
  explicit Strategy(std::vector<Communicator> communicators) noexcept;
  ~Strategy() = default;

 private:
  std::vector<Communicator> communicators_;
};

// One replica a process: `rotarun -np 4 program` trains 4.
class ROTA_EXPORT MultiWorkerStrategy : public Strategy {
 public:
  // Joins the job that started this process, as Communicator does, and throws what it throws.
  explicit MultiWorkerStrategy(
      const CommunicatorOptions& options = CommunicatorOptions::from_environment());
};

struct MirroredOptions {
  std::size_t replicas = 1;  // Threads of each process, all of which have the same number.
  CommunicatorOptions communicator = CommunicatorOptions::from_environment();
};

// Several replicas a process, as threads of it. In one of several processes these are workers of
// several replicas each: `rotarun -np 4 program` with 2 replicas trains 8.
// Where products are those of OpenBLAS in its serial flavour, which is not made for several
// threads, the replicas of a process take turns in them.
class ROTA_EXPORT MirroredStrategy : public Strategy {
 public:
  // Throws what Communicator::for_threads throws: Error kInvalidArgument for 0 replicas, …
  explicit MirroredStrategy(const MirroredOptions& options);
};

}  // namespace rota
