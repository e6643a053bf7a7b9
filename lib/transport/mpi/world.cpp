// Duplicates the caller's communicator, after all ranks have arrived, and deals out tags.
#include "transport/mpi/world.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "memory/kept.h"

namespace rota::transport::mpi {
namespace {

// A rank that waits for the others looks again after this time.
constexpr std::chrono::microseconds kLookEvery{200};

// One flag for the process: an MPI that allows one thread at a time means all of its communicators.
std::atomic_flag turn_of_process;

void require_usable(const Calls& calls, const std::string& caller) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, caller + ": " + why);
  };
  if (calls.version != Calls::kVersion) {
    refuse("the library for " + std::string(calls.name) + " has version " +
           std::to_string(calls.version) + " of the table of MPI functions, but rota needs " +
           std::to_string(Calls::kVersion) + ": take both from one release of rota");
  }
  if (!calls.is_initialized()) refuse("call MPI_Init or MPI_Init_thread first");
  if (calls.is_finalized()) refuse("MPI_Finalize was called already");
  if (calls.thread_level() < ThreadLevel::kSerialized && !calls.is_main_thread()) {
    refuse(
        "MPI allows only the thread that initialised it: call from that thread, or initialise MPI "
        "with MPI_Init_thread and MPI_THREAD_SERIALIZED");
  }
}

}  // namespace

std::string failure_of(const Calls& calls, const char* function, int error) {
  std::array<char, 1024> text{};
  calls.describe(error, text.data(), text.size());
  return std::string(function) + " failed: " + text.data();
}

void World::check(const char* function, int error) const {
  if (error != 0) throw Error(ErrorCode::kSystem, failure_of(calls_, function, error));
}

World::World(const Calls& calls, Handle comm, base::TimePoint deadline,
             const std::function<void()>& look_around, const std::string& caller)
    : calls_((require_usable(calls, caller), calls)), level_(calls.thread_level()) {
  {
    const TurnHolder holder(*this);
    if (const int error = calls.place(comm, rank_, world_size_); error != 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  caller + ": " + failure_of(calls, "MPI_Comm_rank", error) +
                      ": give an MPI_Comm of one group, and not MPI_COMM_NULL");
    }
    check("MPI_Comm_get_attr", calls.largest_tag(largest_tag_));
  }
  duplicate(comm,
            {.deadline = deadline, .missing = "called " + caller, .look_around = look_around});
}

// MPI_Comm_dup has no deadline: it would wait for ever for a rank that has given up.
void World::duplicate(Handle comm, const Patience& patience) {
  const auto made = std::make_shared<Handle>(0);
  run_collective(
      "MPI_Comm_idup", [&](Handle& request) { return calls_.duplicate(comm, *made, request); },
      made, patience);
  comm_ = *made;
  const TurnHolder holder(*this);
  check("MPI_Comm_set_errhandler", calls_.return_errors(comm_));
}

std::vector<std::byte> World::all_gather(std::span<const std::byte> own, base::TimePoint deadline) {
  const auto all = std::make_shared<std::vector<std::byte>>(own.size() * world_size());
  std::ranges::copy(own, all->begin() + static_cast<std::ptrdiff_t>(own.size() * rank()));
  run_collective("MPI_Iallgather",
                 [&](Handle& request) {
                   return calls_.all_gather(nullptr, all->data(), static_cast<int>(own.size()),
                                            DataType::kByte, comm_, request);
                 },
                 all, {.deadline = deadline, .missing = "said where they run"});
  return std::move(*all);
}

// Runs a collective of MPI to its end. MPI cannot cancel it, so after a failure MPI may still write
// to `buffer`.
void World::run_collective(const char* function, const std::function<int(Handle&)>& begin,
                           std::shared_ptr<const void> buffer, const Patience& patience) {
  Handle request = 0;
  {
    const TurnHolder holder(*this);
    check(function, begin(request));
  }
  try {
    wait(request, patience);
  } catch (...) {
    keep_for_ever();
    memory::keep_for_ever(std::move(buffer));
    throw;
  }
}

void World::wait(Handle& request, const Patience& patience) const {
  bool is_done = false;
  while (true) {
    {
      const TurnHolder holder(*this);
      require_open();
      check("MPI_Test", calls_.test(request, is_done));
    }
    if (is_done) return;
    if (patience.look_around) patience.look_around();
    if (base::Clock::now() >= patience.deadline) {
      throw Error(ErrorCode::kTimeout,
                  "rank " + std::to_string(rank_) + " of an MPI communicator of " +
                      std::to_string(world_size_) + ": not all of its ranks have " +
                      patience.missing + " in time");
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

World::~World() {
  if (is_kept() || !may_call()) return;
  const TurnHolder holder(*this);
  calls_.free(comm_);
}

std::atomic_flag* World::turn() const noexcept {
  return level_ == ThreadLevel::kMultiple ? nullptr : &turn_of_process;
}

int World::take_tags(std::size_t count) {
  const std::size_t first = used_tags_.fetch_add(count, std::memory_order_relaxed);
  if (first + count <= static_cast<std::size_t>(largest_tag_)) return static_cast<int>(first);
  throw Error(ErrorCode::kSystem, std::string(calls_.name) + " has " +
                                      std::to_string(largest_tag_) +
                                      " tags, and all are used: make fewer communicators, or make "
                                      "another one with rota::mpi::communicator");
}

void World::require_open() const {
  if (!calls_.is_finalized()) return;
  throw Error(ErrorCode::kClosed,
              "MPI_Finalize was called before this communicator was closed: destroy it first");
}

bool World::may_call() const noexcept {
  return origin_.is_here() && !calls_.is_finalized() &&
         (!is_for_one_thread() || calls_.is_main_thread());
}

TurnHolder::TurnHolder(const World& world) noexcept : flag_(world.turn()) {
  while (flag_ && flag_->test_and_set(std::memory_order_acquire)) std::this_thread::yield();
}

TurnHolder::~TurnHolder() {
  if (flag_) flag_->clear(std::memory_order_release);
}

}  // namespace rota::transport::mpi
