// A world whose ranks are threads of the test, and small data that never changes.
#pragma once
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include <rota/dataset.h>
#include <rota/error.h>

#include "communicator/thread_world.h"

namespace rota::testing {

// Runs `body` on all ranks at the same time. Returns what each rank threw; null if it threw
// nothing.
inline std::vector<std::exception_ptr> outcomes_of_ranks(
    std::size_t world_size, const std::function<void(Communicator&)>& body) {
  ThreadWorldOptions options;
  options.world_size = world_size;
  options.communicator.deadline = std::chrono::seconds(20);
  std::vector<Communicator> world = ThreadWorld::make(options);
  std::vector<std::exception_ptr> outcomes(world_size);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(world[rank]);
      } catch (...) {
        outcomes[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// Does the same, but rethrows the first exception.
inline void on_every_rank(std::size_t world_size, const std::function<void(Communicator&)>& body) {
  for (const std::exception_ptr& outcome : outcomes_of_ranks(world_size, body)) {
    if (outcome) std::rethrow_exception(outcome);
  }
}

// Returns the Error that ended a rank; code kClosed and no message if the rank ended well.
inline Error error_of(const std::exception_ptr& outcome) {
  try {
    if (outcome) std::rethrow_exception(outcome);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kClosed, ""};
}

// Returns images of 6 × 6 pixels in 4 classes. A class is a bright row; the rest looks like noise.
inline Dataset small_dataset(std::size_t count) {
  Dataset data;
  data.shape = {6, 6, 1};
  data.classes = 4;
  std::uint32_t noise = 12345;
  for (std::size_t sample = 0; sample < count; ++sample) {
    const std::size_t label = sample * 7 % data.classes;
    data.labels.push_back(static_cast<std::uint8_t>(label));
    for (std::size_t pixel = 0; pixel < data.shape.count(); ++pixel) {
      noise = noise * 1664525 + 1013904223;
      const std::uint32_t bright = pixel / data.shape.columns == label ? 128 : 0;
      data.pixels.push_back(static_cast<std::uint8_t>(bright + (noise >> 25)));
    }
  }
  return data;
}

}  // namespace rota::testing
