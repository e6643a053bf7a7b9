// One rank of a simulated world: makes the calls, holds what comes against what should, and takes
// its memory back the moment it may.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "simulation/world.h"

namespace rota::simulation {

class Rank {
 public:
  Rank(World& world, Communicator communicator);

  // All batches, or as many as it comes to. Throws Error as calls do.
  void live();

 private:
  // A call under way.
  struct Running {
    Call call;
    std::size_t number = 0;  // Of the call in the world.
    std::span<std::byte> values;
    std::span<std::byte> input;
    std::vector<Request> requests;
  };

  bool fails_at(std::size_t batch, Failure failure) const;
  void run_batch(std::size_t batch, std::size_t first_number);
  // Reports where an error comes later than it may.
  template <class F>
  void within_deadline(F calls);
  void abort_begun(std::vector<Running>& all);
  void begin(Running& running);
  void finish(Running& running);
  std::string name_of(const Running& running) const;
  void take_back(const Running& running);
  void watch_what_is_back(const std::vector<Running>& all);
  void check_untouched() const;

  template <class T>
  void begin_as(Running& running);
  template <class T>
  void check_as(const Running& running);
  template <class T>
  std::optional<T> expected(const Running& running, std::size_t index) const;
  template <class T>
  T combined(const Running& running, std::size_t index) const;
  template <class T>
  std::span<T> take(std::size_t count, bool on_heap);
  template <class T, class F>
  void fill(std::span<T> values, F value) const;

  World& world_;
  const Scenario& scenario_;
  Communicator comm_;
  std::size_t rank_;
  std::size_t n_;
  std::size_t pool_bytes_;
  Block shared_;
  std::vector<std::byte> heap_;
  std::size_t shared_used_ = 0;
  std::size_t heap_used_ = 0;
};

}  // namespace rota::simulation
