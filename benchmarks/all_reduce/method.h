// How an all-reduce is measured: the same sizes, samples, checks and words for rota and its peers.
//
// A sample is a run of calls back to back, a few hundred for the smallest sizes and one for the
// largest, with a barrier before it. Its time is that of the slowest rank, by the call. A row gives
// the smallest and the median of the samples. Bandwidths are those that nccl-tests report: bytes by
// time for the algorithm; that times 2 (ranks - 1) / ranks, what a ring puts on each link, for the
// bus.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rota::bench {

// Ranks that add up floats: one implementation for rota, one for each peer.
class Group {
 public:
  virtual ~Group() = default;

  virtual std::string name() const = 0;  // "rota shm"
  virtual std::size_t rank() const = 0;
  virtual std::size_t world_size() const = 0;

  // Memory for `count` floats, for the life of the Group. Called once.
  virtual std::span<float> allocate(std::size_t count) = 0;
  virtual void all_reduce(std::span<float> values) = 0;  // The sum, in place.
  virtual void barrier() = 0;
  virtual void take_largest(
      std::span<double> values) = 0;  // Each becomes the largest of all ranks.
};

struct Method {
  std::vector<std::size_t> sizes = {4, 256, 4096, 65536, 1 << 20, 16 << 20, 64 << 20};  // In bytes.
  std::size_t iterations = 21;                                                          // Samples.
  bool json = false;
};

// "4,1K,64M" in bytes. Throws std::invalid_argument where an entry is not a positive multiple of
// the four bytes of a float.
std::vector<std::size_t> parse_sizes(const std::string& text);

// Measures `group` and prints a row a size, on rank 0. Every sum is checked before and after the
// samples. Throws std::runtime_error where one is wrong.
void measure(Group& group, const Method& method);

}  // namespace rota::bench
