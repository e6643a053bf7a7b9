// Random numbers that a seed determines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace rota::simulation {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  // SplitMix64.
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }

  // Returns a number in [0, bound). Requires bound > 0. The bias of one in 2^40 does not matter
  // here.
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
  // Returns a number in [from, to].
  std::uint64_t between(std::uint64_t from, std::uint64_t to) noexcept {
    return from + below(to - from + 1);
  }
  bool one_in(std::uint64_t count) noexcept { return below(count) == 0; }

  template <class T>
  T one_of(std::initializer_list<T> choices) noexcept {
    return choices.begin()[below(choices.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace rota::simulation
