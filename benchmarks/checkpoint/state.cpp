// Makes the tensors, and names them as a Replica does.
#include "checkpoint/state.h"

#include <numeric>
#include <stdexcept>

namespace rota::bench {
namespace {

std::vector<std::size_t> counts_of(const std::string& name) {
  if (name == "mlp") {
    return {std::size_t{784} * 512, 512, std::size_t{512} * 512, 512, std::size_t{512} * 10, 10};
  }
  if (name == "large") return std::vector<std::size_t>(16, std::size_t{2} << 20);
  throw std::invalid_argument("--state must be mlp or large");
}

}  // namespace

ExampleState::ExampleState(const std::string& name) {
  for (const std::size_t count : counts_of(name)) {
    parameters_.emplace_back(count);
    std::iota(parameters_.back().begin(), parameters_.back().end(), 0.0F);
    momenta_.push_back(parameters_.back());
    bytes_ += 2 * count * sizeof(float);
  }
}

void ExampleState::visit(StateVisitor& visitor) {
  const auto visit_all = [&visitor](const std::string& kind, auto& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::size_t count = tensors[i].size();
      visitor.visit_tensor(
          {.name = kind + std::to_string(i), .writer = StateWriter::kUpdate, .index = i},
          std::span(&count, 1), tensors[i]);
    }
  };
  visit_all("model/", parameters_);
  visit_all("optimizer/momentum/", momenta_);
}

std::vector<std::span<const std::byte>> ExampleState::tensors() const {
  std::vector<std::span<const std::byte>> all;
  for (const auto* tensors : {&parameters_, &momenta_}) {
    for (const auto& tensor : *tensors) all.push_back(std::as_bytes(std::span(tensor)));
  }
  return all;
}

}  // namespace rota::bench
