// Turns a Layer, which is a value, into the module that does its work.
#pragma once
#include <rota/model.h>

#include <memory>
#include <string>

#include "nn/module.h"

namespace rota::nn {

// "dense", "max_pool": as names of parameters and errors say it.
std::string kind_name(Layer::Kind kind);

// The module for `layer`, the one at `position` counted from 0, on images of shape `input`.
// Throws Error kInvalidArgument if it does not fit there.
template <class T>
std::unique_ptr<Module<T>> make_module(const Layer& layer, std::size_t position, ImageShape input);

}  // namespace rota::nn
