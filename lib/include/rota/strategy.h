// Decides where the replicas of a model run: one in each process, or several as threads of each
// process. The training program is the same in both cases. It runs once for each replica of this
// process:
//
//   rota::MirroredStrategy strategy({.replicas = 2});  // Or: rota::MultiWorkerStrategy strategy;
//   strategy.run([&](rota::Communicator& communicator) {
//     rota::Trainer<float> trainer(communicator, model(), train, test, options);
//     trainer.run();
//   });
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <rota/communicator.h>
#include <rota/export.h>
#include <rota/memory_kind.h>
#include <rota/options.h>

namespace rota {

// The common part of all strategies: one Communicator for each replica of this process.
class ROTA_EXPORT Strategy {
 public:
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  // The next two functions return the number of replicas in this process, and in all processes.
  std::size_t replica_count() const noexcept { return communicators_.size(); }
  std::size_t world_size() const noexcept { return communicators_.front().world_size(); }

  // Calls `program` once for each replica of this process, all at the same time, each with its own
  // Communicator. The first call runs on the calling thread; every other call runs on a thread that
  // ends with the call. Returns when all calls have ended. The calls must not change data that they
  // share, such as a data set. One thread at a time may call run(). A program that throws breaks
  // its Communicator, so that no replica waits for it, here or in other processes. When all calls
  // have ended, run() throws the exception of the program that failed first, not exceptions that
  // followed from it. Throws Error kSystem if a thread cannot be started.
  void run(const std::function<void(Communicator&)>& program);

  // Does the same for a program that may train on devices: it gets the place of its replica, the
  // host or a device, and makes its Model with that place.
  void run(const std::function<void(Communicator&, MemoryKind)>& program);

 protected:
  // `devices` has a device for each replica, or is empty.
  explicit Strategy(std::vector<Communicator> communicators,
                    std::vector<std::uint8_t> devices = {}) noexcept;
  ~Strategy() = default;

 private:
  std::vector<Communicator> communicators_;
  std::vector<std::uint8_t> devices_;
};

// One replica in each process: `rotarun -np 4 program` trains 4 replicas.
class ROTA_EXPORT MultiWorkerStrategy : public Strategy {
 public:
  // Joins the job that started this process, and throws, as the constructor of Communicator does.
  explicit MultiWorkerStrategy(
      const CommunicatorOptions& options = CommunicatorOptions::from_environment());

  // Returns a strategy that trains over a communicator that there is already, such as
  // rota::mpi::communicator(MPI_COMM_WORLD), or one that split() has made.
  static MultiWorkerStrategy over(Communicator communicator);

 private:
  MultiWorkerStrategy(std::vector<Communicator> one, std::vector<std::uint8_t> devices) noexcept;
};

struct MirroredOptions {
  std::size_t replicas = 1;  // Threads of each process; the same number in each.
  CommunicatorOptions communicator = CommunicatorOptions::from_environment();
  // One replica for each entry, on the device with this number: {0, 0, 1} is three replicas on two
  // devices. Takes the place of `replicas`. Empty: the replicas are on the host.
  std::vector<std::uint8_t> devices = {};
};

// Several replicas in each process, as threads. This also works in a job of several processes:
// `rotarun -np 4 program` with 2 replicas trains 8 replicas. If matrix products use the serial
// build of OpenBLAS, which is not made for several threads, only one replica of a process
// multiplies at a time.
class ROTA_EXPORT MirroredStrategy : public Strategy {
 public:
  // Throws what Communicator::for_threads throws, such as Error kInvalidArgument for 0 replicas.
  // Also throws kInvalidArgument if there are `devices`, and `replicas` is another number than
  // theirs or 1, and for a device that cannot be: number MemoryKind::kMostDevices.
  explicit MirroredStrategy(const MirroredOptions& options);

  // Returns a strategy with one replica for each of these communicators, which belong to one world,
  // such as those of rota::mpi::for_threads(MPI_COMM_WORLD, 2). `devices` is as in MirroredOptions.
  // Throws Error kInvalidArgument if there are no communicators, or another number of `devices`, or
  // a device that cannot be.
  static MirroredStrategy over(std::vector<Communicator> communicators,
                               std::vector<std::uint8_t> devices = {});

 private:
  MirroredStrategy(std::vector<Communicator> all, std::vector<std::uint8_t> devices) noexcept;
};

}  // namespace rota
