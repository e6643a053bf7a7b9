// Repeats the program from its beginning for each choice: the path is the list of choices so far. A
// load has no choice if no other thread stores to its place.
#include "orders/explorer.h"

#include <sys/mman.h>
#include <sys/single_threaded.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "orders/exploration.h"

namespace rota::orders {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} * 1024;
constexpr std::size_t kHeapBytes = std::size_t{4} << 20;
constexpr std::uint64_t kMostRuns = 3'000'000;

std::byte* map(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("no memory for the threads of a program");
    std::abort();
  }
  return static_cast<std::byte*>(memory);
}

// Memory that all runs use again, so each object has the same address in each run. The threads of a
// program share objects on the heaps, and on the stack of the first thread.
constexpr std::size_t kSharedBytes = kStackBytes + kMostThreads * kHeapBytes;
std::byte* const shared = map(kSharedBytes);
std::byte* const other_stacks = map(kMostThreads * kStackBytes);

std::span<std::byte> stack_of(std::size_t thread) {
  return {thread == 0 ? shared : other_stacks + thread * kStackBytes, kStackBytes};
}
std::byte* heap_of(std::size_t thread) { return shared + kStackBytes + thread * kHeapBytes; }

bool is_in(std::span<const std::byte> memory, const volatile void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at - reinterpret_cast<std::uintptr_t>(memory.data()) < memory.size();
}

// Returns the order of a load that a weakened read-modify-write makes if it leaves the value.
std::memory_order without_release(std::memory_order order) {
  if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
  return order == std::memory_order_release ? std::memory_order_relaxed : order;
}

}  // namespace

Exploration::Exploration(const Options& options, const std::function<void()>& program)
    : options_(options), program_(program) {
  threads_.reserve(kMostThreads);
  // The C library sees one thread. Without this, the counts of shared pointers would not be atomic.
  __libc_single_threaded = 0;
}

bool Exploration::has(const volatile void* address) const noexcept {
  if (is_in({shared, kSharedBytes}, address)) return true;
  return std::ranges::any_of(options_.memory,
                             [&](std::span<std::byte> memory) { return is_in(memory, address); });
}

Report Exploration::run() {
  while (true) {
    run_once();
    ++report_.run_count;
    if (execution_->buffers_loads()) report_.buffers_loads = true;
    if (report_.run_count == kMostRuns) report_.fault = "the program has too many runs";
    if (report_.fault) break;
    if (std::exchange(has_learned_, false)) {  // Earlier runs had too few choices.
      path_.clear();
      seen_.clear();
      report_.complete_count = 0;
      continue;
    }
    while (!path_.empty() && path_.back().chosen + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) break;
    ++path_.back().chosen;
  }
  report_.events = execution_->events();
  return std::move(report_);
}

void Exploration::run_once() {
  for (const std::span<std::byte> memory : options_.memory) {
    std::memset(memory.data(), 0, memory.size());
  }
  threads_.clear();
  execution_.emplace(options_.rules);
  plain_.emplace();
  depth_ = 0;
  is_cut_ = false;
  start_thread(program_);
  const auto is_over = [&] { return is_cut_ || report_.fault; };
  do {
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t i = 0; i < threads_.size() && !is_over(); ++i) {
        if (!may_go_on(threads_[i])) continue;
        running_ = i;
        threads_[i].state = State::kRuns;
        threads_[i].fiber->go_on();
        moves = true;
      }
    }
  } while (!is_over() && choose());
}

bool Exploration::has_news(const Thread& thread) const {
  return std::ranges::any_of(thread.looked, [&](std::size_t load) {
    return execution_->has_news(execution_->events()[load]);
  });
}

bool Exploration::may_go_on(const Thread& thread) {
  switch (thread.state) {
    case State::kRuns:
      return true;
    case State::kWaits:
      return has_news(thread);
    case State::kParked:  // In another run, the thread looks later.
      is_cut_ = has_news(thread);
      return false;
    case State::kJoins:
      return threads_[thread.awaited].state == State::kOver;
    default:
      return false;
  }
}

// Lets one thread make its load. Returns false if the run is over.
bool Exploration::choose() {
  struct Choice {
    std::size_t thread;
    Option option;
  };
  std::vector<Choice> choices;
  bool all_over = true;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].state != State::kOver) all_over = false;
    if (threads_[i].state != State::kLoads) continue;
    for (const Option option : execution_->options(i, threads_[i].access)) {
      choices.push_back({i, option});
    }
  }
  if (choices.empty()) {
    if (all_over) ++report_.complete_count;
    if (!all_over) report_.fault = "threads wait for ever";
    return false;
  }
  if (depth_ == path_.size() && !seen_.insert(execution_->key()).second) return false;
  const Choice chosen = choices[decide(choices.size())];
  Thread& thread = threads_[chosen.thread];
  make(thread, chosen.thread, thread.access, chosen.option);
  thread.looked.push_back(execution_->events().size() - 1);
  thread.state = State::kRuns;
  return true;
}

std::size_t Exploration::decide(std::size_t count) {
  if (count == 1) return 0;
  if (depth_ == path_.size()) path_.push_back({.chosen = 0, .count = count});
  if (path_[depth_].count != count) {
    std::fputs("the program does not do the same in each run\n", stderr);
    std::abort();
  }
  return path_[depth_++].chosen;
}

// Memory has the latest value, for plain accesses before and after the threads.
void Exploration::make(Thread&, std::size_t number, const Access& access, Option option) {
  execution_->make(number, access, option);
  const std::uint64_t latest = execution_->latest(access.place);
  std::memcpy(reinterpret_cast<void*>(access.place), &latest, access.bytes);
}

void Exploration::pause() { threads_[running_].fiber->pause(); }

std::memory_order Exploration::order_at(const void* caller, Kind kind, std::memory_order order) {
  report_.sites.insert({caller, kind, order});
  const auto weakened = options_.weakened.find(caller);
  return weakened == options_.weakened.end() ? order : weakened->second;
}

std::uint64_t Exploration::access(Access access) {
  const std::memory_order order = order_at(access.caller, access.kind, access.order);
  if (order != access.order) access.otherwise = without_release(order);
  access.order = order;
  const std::size_t number = running_;
  Thread& thread = threads_[number];
  using Plain = PlainAccesses::Kind;
  note(access.kind == Kind::kLoad ? Plain::kAtomicRead : Plain::kAtomicWrite,
       reinterpret_cast<const void*>(access.place), access.bytes);
  std::bitset<kMostThreads>& storing = storing_[access.place];
  if (access.kind != Kind::kLoad && !storing[number]) {
    storing.set(number);
    has_learned_ = true;
  }
  if (access.kind == Kind::kStore) {
    const auto options = execution_->options(number, access);
    make(thread, number, access, options[decide(options.size())]);
    return 0;
  }
  if ((storing & ~std::bitset<kMostThreads>().set(number)).none()) {
    make(thread, number, access, execution_->options(number, access).back());
    thread.looked.push_back(execution_->events().size() - 1);
  } else {
    thread.access = std::move(access);
    thread.state = State::kLoads;
    pause();
  }
  return execution_->events()[thread.looked.back()].read;
}

void Exploration::fence(std::memory_order order, const void* caller) {
  execution_->fence(running_, order_at(caller, Kind::kFence, order), caller);
}

void Exploration::note(PlainAccesses::Kind kind, const volatile void* address, std::size_t bytes) {
  const auto other = plain_->add(*execution_, running_, kind, address, bytes);
  if (other) {
    fail("a data race of thread " + std::to_string(running_) + " with thread " +
         std::to_string(*other));
  }
}

void* Exploration::allocate(std::size_t bytes, std::size_t alignment) {
  std::size_t& allocated = threads_[running_].allocated;
  allocated = (allocated + alignment - 1) / alignment * alignment + bytes;
  if (allocated > kHeapBytes) fail("the program wants too much memory");
  return heap_of(running_) + allocated - bytes;
}

bool Exploration::is_allocated(const void* memory) noexcept {
  return is_in({shared, kSharedBytes}, memory);
}

std::size_t Exploration::start_thread(std::function<void()> body) {
  const std::size_t number = threads_.size();
  if (number == kMostThreads) fail("the program has too many threads");
  if (number > 0) execution_->start(number, running_);
  Thread& thread = threads_.emplace_back();
  thread.fiber =
      std::make_unique<testing::Fiber>(stack_of(number), [this, number, body = std::move(body)] {
        exploration = this;
        std::optional<std::string> fault;
        try {
          body();
        } catch (const std::exception& error) {
          fault = error.what();
        }
        exploration = nullptr;
        if (fault && !report_.fault) report_.fault = std::move(fault);
        threads_[number].state = State::kOver;
      });
  return number;
}

void Exploration::join_thread(std::size_t thread) {
  const std::size_t own = running_;
  threads_[own].awaited = thread;
  threads_[own].state = State::kJoins;
  pause();
  execution_->join_with(own, thread);
}

void Exploration::begin_look() {
  threads_[running_].looked.clear();
  threads_[running_].last_look.clear();
}

void Exploration::fail_look() {
  threads_[running_].state = State::kParked;
  while (true) pause();
}

void Exploration::wait_for_news() {
  Thread& thread = threads_[running_];
  Look look;
  for (const std::size_t load : thread.looked) {
    look.emplace_back(execution_->events()[load].place, execution_->events()[load].read);
  }
  is_cut_ = !look.empty() && look == thread.last_look;
  thread.last_look = std::move(look);
  thread.state = State::kWaits;
  pause();
  thread.looked.clear();
}

void Exploration::fail(const std::string& what) {
  if (!report_.fault) report_.fault = what;
  while (true) pause();
}

Report explore(const Options& options, const std::function<void()>& program) {
  return Exploration(options, program).run();
}

void expect(bool holds, const char* what) {
  if (holds) return;
  const Inside here;
  here->fail(what);
}

void wait_for_news() {
  const Inside here;
  here->wait_for_news();
}

void wait_until(const std::function<bool()>& look) {
  {
    const Inside here;
    here->begin_look();
  }
  if (look()) return;
  const Inside here;
  here->fail_look();
}

}  // namespace rota::orders
