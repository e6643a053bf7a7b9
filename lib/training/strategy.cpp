// Runs a program on every replica of this process, and finds out which failed first.
#include <rota/strategy.h>

#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <rota/error.h>

namespace rota {
namespace {

// What a program ended with, in words, and whether that is only what another replica's end did to
// it: a replica may tell the others before it throws, so the first to throw need not be the first
// to have failed.
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
  } catch (const std::exception& error) {
    return {std::current_exception(), error.what()};
  } catch (...) {
    return {std::current_exception(), "its program threw what is no std::exception"};
  }
}

class FirstFailure {
 public:
  // Runs `program`. If that throws, the other ranks are told, after the failure has been kept.
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
    throw Error(ErrorCode::kSystem,
                std::string("a replica's thread cannot be started: ") + error.what());
  }
}

std::vector<Communicator> join_as_one(const CommunicatorOptions& options) {
  std::vector<Communicator> communicators;
  communicators.emplace_back(options);
  return communicators;
}

}  // namespace

Strategy::Strategy(std::vector<Communicator> communicators) noexcept
    : communicators_(std::move(communicators)) {}

void Strategy::run(const std::function<void(Communicator&)>& program) {
  FirstFailure failure;
  const auto run_replica = [&](Communicator& communicator) {
    failure.guard(communicator, [&] { program(communicator); });
  };
  {
    std::vector<std::jthread> threads;  // Joined at the end of this block.
    // Where a thread cannot be started, the first replica has failed, and those before it hear so.
    failure.guard(communicators_.front(), [&] {
      for (std::size_t i = 1; i < communicators_.size(); ++i) {
        threads.push_back(start_thread([&, i] { run_replica(communicators_[i]); }));
      }
      program(communicators_.front());
    });
  }
  failure.rethrow();
}

MultiWorkerStrategy::MultiWorkerStrategy(const CommunicatorOptions& options)
    : Strategy(join_as_one(options)) {}

MirroredStrategy::MirroredStrategy(const MirroredOptions& options)
    : Strategy(options.replicas == 1
                   ? join_as_one(options.communicator)
                   : Communicator::for_threads(options.replicas, options.communicator)) {}

}  // namespace rota
