// One rank of a simulated world: it makes the calls, compares each result with the right one, and
// reuses the memory of a call as soon as the rules allow it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>

#include "simulation/world.h"

namespace rota::simulation {

class Rank {
 public:
  Rank(World& world, Communicator communicator);

  // Runs all batches, or as many as the rank can. Throws Error as calls do.
  void live();

 private:
  // A call in progress.
  struct Running {
    Call call;
    std::size_t number = 0;  // The number of the call in the world.
    std::span<std::byte> values;
    std::span<std::byte> input;
    std::vector<Request> requests;
  };

  bool fails_at(std::size_t batch, Failure failure) const;
  void run_batch(std::size_t batch, std::size_t first_number);
  // Runs `calls`. If they throw an Error too long after the deadline, reports that to the world.
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
  template <class T>
  std::span<T> take_values(Running& running, std::size_t count);
  template <class T, class F>
  void fill(std::span<T> values, F value) const;

  // A rank on a device has a copy of its pool in host memory, which is written and read here.
  bool is_on_device() const { return scenario_.is_on_device(rank_); }
  DeviceSpan<std::byte> on_device(std::span<const std::byte> copy) const;
  void give_to_device(std::span<const std::byte> copy) const;
  void take_from_device(std::span<std::byte> copy) const;
  template <class T>
  Values place_of(std::span<T> values) const;

  World& world_;
  const Scenario& scenario_;
  Communicator comm_;
  std::size_t rank_;
  std::size_t n_;
  std::size_t pool_bytes_;
  Block shared_;
  std::vector<std::byte> heap_;
  DeviceBlock device_;  // As large as the heap, if the rank's values are on a device.
  std::size_t shared_used_ = 0;
  std::size_t heap_used_ = 0;
};

}  // namespace rota::simulation
