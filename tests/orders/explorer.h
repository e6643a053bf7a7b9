// Runs a small program with threads in every way that the C++ memory model allows, and looks for a
// run that goes wrong. The program is ordinary code: std::thread, std::atomic, and the library's
// own classes, all compiled with the calls that a compiler makes for a race detector. These calls,
// and the calls that start threads or wait, come here.
//
// Method: the threads are fibers. A thread runs until it has to load an atomic. When all threads
// have come that far, the explorer chooses a thread, and the store that its load reads. It repeats
// the program for each other choice, except for those that lead to an execution that it has seen.
// A store needs no choice of the moment, because a later store can still come before it. The
// program must do the same in each run if its loads read the same values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "orders/execution.h"

namespace rota::orders {

// An atomic operation in the code: where it is, and its order.
struct Site {
  const void* caller = nullptr;
  Kind kind = Kind::kLoad;
  std::memory_order order = std::memory_order_relaxed;
  auto operator<=>(const Site&) const = default;
};

struct Options {
  Rules rules{};
  // Replaces the orders of these operations. The key: the instruction after the operation.
  std::map<const void*, std::memory_order> weakened{};
  // Further memory that the program uses. It is filled with zeros before each run.
  std::vector<std::span<std::byte>> memory{};
};

struct Report {
  std::optional<std::string> fault{};  // What went wrong in the last run.
  std::vector<Event> events{};         // The events of that run.
  std::uint64_t run_count = 0;
  std::uint64_t complete_count = 0;  // Runs in which the program came to its end.
  bool buffers_loads = false;        // See Execution::buffers_loads().
  std::set<Site> sites{};            // All operations that some run has made.
};

// Explores until all runs are done, or one has a fault: a data race, threads that wait for ever, an
// exception, a failed assertion, or a failed expect().
Report explore(const Options& options, const std::function<void()>& program);

// For the program. Ends the run with a fault unless `holds`.
void expect(bool holds, const char* what);

// For the program. Waits until `look` returns true. A look that returns false must leave nothing
// behind that the last look alone would not leave. So only runs count in which the first look comes
// late enough, or in which all looks fail for ever.
void wait_until(const std::function<bool()>& look);

// For the program, and for waits in code that it calls: returns when a value has changed that the
// thread has loaded since it last waited.
void wait_for_news();

}  // namespace rota::orders
