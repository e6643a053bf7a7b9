// Lets streams of the program wait until rota's host code has done something, such as an operation
// that other ranks take part in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <rota/cuda_calls.h>
#include <rota/memory.h>

#include "device/stream.h"

namespace rota::device {

// Words of pinned memory. The host posts numbers in them, which only grow, and streams wait until a
// word has come to a number. One thread at a time may post, and one may call the other functions.
class Posts {
 public:
  // The last number of a word, for which no stream waits.
  static constexpr std::uint64_t kAll = ~std::uint64_t{0} >> 1;

  // All words are 0. Throws Error kNoMemory, and kInvalidArgument if there is no table of
  // functions.
  explicit Posts(std::size_t count);

  void post(std::size_t word, std::uint64_t number) noexcept;
  void post_all() noexcept;  // Posts kAll in every word: no stream waits any more.

  // Lets later work of the stream wait until `word` has come to `number`. Requires number < kAll.
  // Returns false if streams of this device cannot wait for memory, or must not, because they share
  // a queue of the device. Throws Error kInvalidArgument if the stream is none of the device, and
  // kSystem.
  bool hold(const cuda::On& on, std::size_t word, std::uint64_t number);

  // Returns whether no stream waits. Waits a while for those that do. If one still waits, the words
  // must be kept: a stream looks at its word.
  bool is_idle() const noexcept;

 private:
  std::uint64_t* at(std::size_t word) const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_.bytes().data()) + word;
  }
  const Event& unused_event(std::uint8_t device);

  struct Waiter {
    std::uint8_t device;
    Event passed;  // Happens when the stream has gone past the word.
  };

  std::size_t count_;
  Block memory_;
  std::vector<Waiter> waiters_;
};

}  // namespace rota::device
