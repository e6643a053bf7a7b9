// The loss: how surprised the model is by the labels, taking its logits for log probabilities.
#pragma once
#include <rota/model.h>

#include <cstdint>
#include <span>

namespace rota::nn {

// `logits` are labels.size() × classes; labels are below `classes`. Where `gradient` is not null,
// it becomes the gradient of the summed loss with respect to the logits; it may be `logits`.
template <class T>
Score softmax_cross_entropy(const T* logits, std::size_t classes,
                            std::span<const std::uint8_t> labels, T* gradient);

}  // namespace rota::nn
