// The state of one exploration, which the hooks in hooks.cpp reach.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "orders/execution.h"
#include "orders/explorer.h"
#include "orders/plain_accesses.h"
#include "testing/fiber.h"

namespace rota::orders {

class Exploration {
 public:
  Exploration(const Options& options, const std::function<void()>& program);

  Report run();

  // The rest is for the hooks. Accesses of memory that threads may share:
  bool has(const volatile void* address) const noexcept;
  void note(PlainAccesses::Kind kind, const volatile void* address, std::size_t bytes);
  std::uint64_t access(Access access);  // Returns the value that the access reads.
  void fence(std::memory_order order, const void* caller);

  // Memory of the program, which no other thread has had in this run.
  void* allocate(std::size_t bytes, std::size_t alignment);
  static bool is_allocated(const void* memory) noexcept;

  std::size_t start_thread(std::function<void()> body);
  void join_thread(std::size_t thread);
  void begin_look();
  [[noreturn]] void fail_look();
  void wait_for_news();
  [[noreturn]] void fail(const std::string& what);

  // Only one thread exists, so its accesses go straight to memory.
  bool is_alone() const noexcept { return threads_.size() == 1; }

 private:
  enum class State : std::uint8_t { kRuns, kLoads, kWaits, kParked, kJoins, kOver };

  using Look = std::vector<std::pair<std::uintptr_t, std::uint64_t>>;  // Places and values.

  struct Thread {
    std::unique_ptr<testing::Fiber> fiber{};
    State state = State::kRuns;
    Access access{};                    // kLoads: what it is about to do.
    std::size_t awaited = 0;            // kJoins: the thread that has to end.
    std::vector<std::size_t> looked{};  // Its loads since the last wait, as events.
    Look last_look{};                   // What it had read when it waited last.
    std::size_t allocated = 0;          // Bytes of its memory.
  };
  struct Decision {
    std::size_t chosen = 0;
    std::size_t count = 0;
  };

  void run_once();
  bool has_news(const Thread& thread) const;
  bool may_go_on(const Thread& thread);
  bool choose();
  std::size_t decide(std::size_t count);
  void pause();
  void make(Thread& thread, std::size_t number, const Access& access, Option option);
  std::memory_order order_at(const void* caller, Kind kind, std::memory_order order);

  const Options& options_;
  const std::function<void()>& program_;
  Report report_{};
  std::vector<Decision> path_{};
  std::unordered_set<std::string> seen_{};
  // The threads that store to each place, in the runs so far.
  std::map<std::uintptr_t, std::bitset<kMostThreads>> storing_{};
  bool has_learned_ = false;  // The run has found a thread that storing_ did not have.

  // Of the run.
  std::optional<Execution> execution_{};
  std::optional<PlainAccesses> plain_{};
  std::vector<Thread> threads_{};
  std::size_t running_ = 0;
  std::size_t depth_ = 0;  // Decisions so far.
  bool is_cut_ = false;    // The rest of the run would repeat another one.
};

// The exploration while the program runs; null while the explorer itself works, and at all other
// times.
inline Exploration* exploration = nullptr;

// Sets `exploration` to null meanwhile.
class Inside {
 public:
  Inside() noexcept : exploration_(std::exchange(exploration, nullptr)) {}
  ~Inside() { exploration = exploration_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  explicit operator bool() const noexcept { return exploration_ != nullptr; }
  Exploration* operator->() const noexcept { return exploration_; }

 private:
  Exploration* exploration_;
};

}  // namespace rota::orders
