// Makes the module of a layer, which computes on the host or on a device.
#pragma once
#include <cstddef>
#include <memory>

#include "nn/module.h"

namespace rota::nn {

// Makes the module for `layer`, which is at index `position`, on images of shape `input`. It
// computes with `math`, see host_math.h. Throws Error kInvalidArgument if the layer does not fit
// such images.
template <class Math>
std::unique_ptr<Module<typename Math::Element>> make_module(const Math& math, const Layer& layer,
                                                            std::size_t position, ImageShape input);

}  // namespace rota::nn
