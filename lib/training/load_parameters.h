// Gives the tensors of a file to the parameters of a model. Without this file, no training run
// could start from the weights of another program.
#pragma once
#include <span>

#include <rota/communicator.h>
#include <rota/model.h>
#include <rota/safetensors.h>
#include <rota/values.h>

namespace rota::training {

// `values` are the values of `parameters`, in the same order. Throws Error kInvalidArgument, with
// nothing changed, if the tensors of `file` are not those of the model.
void copy_parameters(std::span<const ParameterInfo> parameters, std::span<const Values> values,
                     const SafetensorsFile& file);

// Calls copy_parameters() on all ranks together. Collective. Throws as Replica::load does.
void load_parameters(Communicator& communicator, std::span<const ParameterInfo> parameters,
                     std::span<const Values> values, const SafetensorsFile& file);

}  // namespace rota::training
