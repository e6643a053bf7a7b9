// Allocates the values and the gradients of each parameter.
#include "training/parameter_memory.h"

#include "memory/host_block.h"
#include "training/load_parameters.h"

namespace rota::training {

ParameterMemory::ParameterMemory(std::span<const ParameterInfo> parameters, DataType type)
    : parameters_(parameters.begin(), parameters.end()) {
  for (const ParameterInfo& parameter : parameters_) {
    values_.push_back(allocate(parameter.count(), type));
    gradients_.push_back(allocate(parameter.count(), type));
  }
}

Values ParameterMemory::allocate(std::size_t count, DataType type) {
  blocks_.push_back(memory::allocate_host(count * bytes_of(type)));
  std::byte* const bytes = blocks_.back().bytes().data();
  if (type == DataType::kFloat32) return std::span(reinterpret_cast<float*>(bytes), count);
  return std::span(reinterpret_cast<double*>(bytes), count);
}

void ParameterMemory::visit(StateVisitor& visitor) const {
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    visitor.visit_tensor({.name = "model/" + parameters_[index].name}, parameters_[index].shape,
                         values_[index]);
  }
}

void ParameterMemory::load(const SafetensorsFile& file) const {
  copy_parameters(parameters_, values_, file);
}

}  // namespace rota::training
