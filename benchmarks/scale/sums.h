// The interface between a paced step and the library that sums its gradients.
#pragma once
#include <cstddef>
#include <span>

namespace rota::bench {

class Sums {
 public:
  virtual ~Sums() = default;

  // Returns the memory of a gradient. The caller may use it while no sum is under way.
  virtual std::span<float> gradient(std::size_t index) = 0;

  virtual void begin() = 0;  // Ends the forward pass of a step; no gradient is ready yet.
  // Announces that a gradient is final. Returns before its sum is there. All ranks announce the
  // gradients in the same order, from the last one to the first one.
  virtual void ready(std::size_t index) = 0;
  virtual void wait() = 0;  // Waits until all gradients are sums over all ranks.
};

// Makes all of `count` gradients ready at once, and waits for their sums.
inline void sum_all(Sums& sums, std::size_t count) {
  sums.begin();
  for (std::size_t index = count; index-- > 0;) sums.ready(index);
  sums.wait();
}

}  // namespace rota::bench
