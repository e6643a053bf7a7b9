// Compares the tensors of a file with the parameters, and copies them when all ranks agree.
#include "training/load_parameters.h"

#include <algorithm>
#include <set>
#include <string>

#include <rota/error.h>

#include "kernels/crc32c.h"
#include "training/agreement.h"

namespace rota::training {
namespace {

std::string form_of(std::string_view type, std::span<const std::size_t> shape) {
  std::string sides;
  for (const std::size_t side : shape) {
    sides += (sides.empty() ? "" : ", ") + std::to_string(side);
  }
  return std::string(type) + " [" + sides + "]";
}

std::string form_of(const NamedTensor& tensor) {
  const DataType type = tensor.values.type();
  return form_of(type == DataType::kByte ? tensor.type_name : to_string(type), tensor.shape);
}

// Returns why the tensors of `file` are not those of the model, or an empty text if they are.
std::string why_not(std::span<const ParameterInfo> parameters, std::span<const Values> values,
                    const SafetensorsFile& file) {
  std::set<std::string_view> names;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const ParameterInfo& parameter = parameters[index];
    names.insert(parameter.name);
    const std::string needed = form_of(to_string(values[index].type()), parameter.shape);
    const NamedTensor* const tensor = file.find(parameter.name);
    if (tensor == nullptr) {
      return "it has no tensor " + parameter.name + ", which is " + needed + " in the model";
    }
    if (tensor->values.type() != values[index].type() || tensor->shape != parameter.shape) {
      return "its tensor " + parameter.name + " is " + form_of(*tensor) +
             ", but in the model it is " + needed;
    }
  }
  for (const NamedTensor& tensor : file.tensors()) {
    if (!names.contains(tensor.name)) {
      return "its tensor " + tensor.name + ", " + form_of(tensor) + ", is not in the model";
    }
  }
  return "";
}

std::span<const std::byte> bytes_of(const NamedTensor& tensor) noexcept {
  return {tensor.values.data(), tensor.values.bytes()};
}

void require_fit(const SafetensorsFile& file, const std::string& why) {
  if (why.empty()) return;
  throw Error(ErrorCode::kInvalidArgument,
              file.path().string() + ": does not fit the model: " + why);
}

void copy_checked(std::span<const ParameterInfo> parameters, std::span<const Values> values,
                  const SafetensorsFile& file) {
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    std::ranges::copy(bytes_of(*file.find(parameters[index].name)), values[index].data());
  }
}

}  // namespace

void copy_parameters(std::span<const ParameterInfo> parameters, std::span<const Values> values,
                     const SafetensorsFile& file) {
  require_fit(file, why_not(parameters, values, file));
  copy_checked(parameters, values, file);
}

void load_parameters(Communicator& communicator, std::span<const ParameterInfo> parameters,
                     std::span<const Values> values, const SafetensorsFile& file) {
  const std::string why = why_not(parameters, values, file);
  std::uint32_t checksum = 0;
  if (why.empty()) {
    for (const ParameterInfo& parameter : parameters) {
      checksum = kernels::crc32c(bytes_of(*file.find(parameter.name)), checksum);
    }
  }
  check_agreement(communicator,
                  {{"tensors to load:", why.empty() ? "checksum " + std::to_string(checksum)
                                                    : "not those of the model: " + why}});
  require_fit(file, why);
  copy_checked(parameters, values, file);
}

}  // namespace rota::training
