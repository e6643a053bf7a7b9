// Runs a program on every replica of this process, and finds the replica that failed first.
#include <rota/strategy.h>

#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "base/thrown.h"
#include "os/system_error.h"

namespace rota {
namespace {

// How a program ended, in words. `is_echo` says that the program only reacted to the end of another
// replica. A replica may tell the others before it throws, so the replica that throws first may not
// be the one that failed first.
struct Failure {
  std::exception_ptr exception;
  std::string reason;
  bool is_echo = false;
};

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return {std::current_exception(), error.what(), error.code() == ErrorCode::kAborted};
  } catch (...) {
    return {std::current_exception(), base::text_of_thrown("its program")};
  }
}

class FirstFailure {
 public:
  // Runs `program`. If it throws, keeps the failure and then tells the other ranks.
  void guard(Communicator& communicator, const std::function<void()>& program) {
    try {
      program();
    } catch (...) {
      const Failure failure = current_failure();
      keep(failure);
      communicator.abort(failure.reason);
    }
  }

  void rethrow() const {
    if (first_.exception) std::rethrow_exception(first_.exception);
  }

 private:
  void keep(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (!first_.exception || (first_.is_echo && !failure.is_echo)) first_ = failure;
  }

  std::mutex mutex_;
  Failure first_;
};

std::jthread start_thread(const std::function<void()>& body) {
  try {
    return std::jthread(body);
  } catch (const std::system_error& error) {
    os::throw_cannot_start("starting a replica's thread", error.code().value());
  }
}

void require_device_of_each(std::size_t replica_count, const std::vector<std::uint8_t>& devices) {
  if (devices.empty() || replica_count == devices.size()) return;
  throw Error(ErrorCode::kInvalidArgument,
              std::to_string(replica_count) + " replicas, but " + std::to_string(devices.size()) +
                  " devices for them: name the device of each replica");
}

// A MemoryKind has no code for the number after the last device. There, a replica would silently be
// on the host.
void require_numbers_of_devices(const std::vector<std::uint8_t>& devices) {
  for (const std::uint8_t device : devices) {
    if (device < MemoryKind::kMostDevices) continue;
    throw Error(ErrorCode::kInvalidArgument, "there is no device " + std::to_string(device) +
                                                 ": devices have numbers below " +
                                                 std::to_string(MemoryKind::kMostDevices));
  }
}

std::size_t replica_count_of(const MirroredOptions& options) {
  require_numbers_of_devices(options.devices);
  if (options.devices.empty()) return options.replicas;
  if (options.replicas != 1) require_device_of_each(options.replicas, options.devices);
  return options.devices.size();
}

std::vector<Communicator> as_one(Communicator communicator) {
  std::vector<Communicator> communicators;
  communicators.push_back(std::move(communicator));
  return communicators;
}

}  // namespace

Strategy::Strategy(std::vector<Communicator> communicators,
                   std::vector<std::uint8_t> devices) noexcept
    : communicators_(std::move(communicators)), devices_(std::move(devices)) {}

void Strategy::run(const std::function<void(Communicator&)>& program) {
  run([&](Communicator& communicator, MemoryKind) { program(communicator); });
}

void Strategy::run(const std::function<void(Communicator&, MemoryKind)>& program) {
  FirstFailure failure;
  const auto run_program = [&](std::size_t i) {
    program(communicators_[i],
            devices_.empty() ? MemoryKind() : MemoryKind::of_device(devices_[i]));
  };
  {
    std::vector<std::jthread> threads;  // Joined at the end of this block.
    // If a thread cannot be started, the first replica counts as failed. Its abort ends the
    // replicas that already run.
    failure.guard(communicators_.front(), [&] {
      for (std::size_t i = 1; i < communicators_.size(); ++i) {
        threads.push_back(
            start_thread([&, i] { failure.guard(communicators_[i], [&] { run_program(i); }); }));
      }
      run_program(0);
    });
  }
  failure.rethrow();
}

MultiWorkerStrategy::MultiWorkerStrategy(const CommunicatorOptions& options)
    : Strategy(as_one(Communicator(options))) {}

MultiWorkerStrategy::MultiWorkerStrategy(std::vector<Communicator> one,
                                         std::vector<std::uint8_t> devices) noexcept
    : Strategy(std::move(one), std::move(devices)) {}

MultiWorkerStrategy MultiWorkerStrategy::over(Communicator communicator) {
  return {as_one(std::move(communicator)), {}};
}

MirroredStrategy::MirroredStrategy(const MirroredOptions& options)
    : Strategy(replica_count_of(options) == 1
                   ? as_one(Communicator(options.communicator))
                   : Communicator::for_threads(replica_count_of(options), options.communicator),
               options.devices) {}

MirroredStrategy::MirroredStrategy(std::vector<Communicator> all,
                                   std::vector<std::uint8_t> devices) noexcept
    : Strategy(std::move(all), std::move(devices)) {}

MirroredStrategy MirroredStrategy::over(std::vector<Communicator> communicators,
                                        std::vector<std::uint8_t> devices) {
  if (communicators.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a strategy needs at least one communicator, and got none");
  }
  require_numbers_of_devices(devices);
  require_device_of_each(communicators.size(), devices);
  return {std::move(communicators), std::move(devices)};
}

}  // namespace rota
