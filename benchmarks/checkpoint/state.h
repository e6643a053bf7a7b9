// The states that the checkpoint benchmark saves: parameters and their momentum, as SGD has them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rota/training_state.h>

namespace rota::bench {

class ExampleState {
 public:
  // "mlp": the model of the example, 5.4 MB. "large": 256 MiB in 32 tensors of 8 MiB. Throws
  // std::invalid_argument for another name. checkpoint_pytorch.py has the same tensors.
  explicit ExampleState(const std::string& name);

  void visit(StateVisitor& visitor);
  std::size_t parameter_count() const noexcept { return parameters_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }

  // Parameters and momenta.
  std::vector<std::span<const std::byte>> tensors() const;

 private:
  std::vector<std::vector<float>> parameters_;
  std::vector<std::vector<float>> momenta_;  // One for each parameter.
  std::size_t bytes_ = 0;
};

}  // namespace rota::bench
