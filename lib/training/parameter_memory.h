// Memory for the parameters of a model that is only evaluated. Without a Communicator, no Replica
// gives it memory.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <rota/memory.h>
#include <rota/model.h>
#include <rota/safetensors.h>
#include <rota/training_state.h>
#include <rota/values.h>

namespace rota::training {

class ParameterMemory {
 public:
  // `type` is kFloat32 or kFloat64. Throws Error kNoMemory.
  ParameterMemory(std::span<const ParameterInfo> parameters, DataType type);

  const Values& values(std::size_t parameter) const { return values_[parameter]; }
  const Values& gradient(std::size_t parameter) const { return gradients_[parameter]; }

  // Visits the parameters under the names that they have in a checkpoint.
  void visit(StateVisitor& visitor) const;

  // Takes the parameters from `file`. Throws Error kInvalidArgument if it has other tensors.
  void load(const SafetensorsFile& file) const;

 private:
  Values allocate(std::size_t count, DataType type);

  std::vector<ParameterInfo> parameters_;
  std::vector<Block> blocks_;
  std::vector<Values> values_;
  std::vector<Values> gradients_;
};

}  // namespace rota::training
