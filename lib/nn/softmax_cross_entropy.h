// The loss: cross-entropy of the labels, with the logits as log probabilities before normalization.
#pragma once
#include <rota/model.h>

#include <cstdint>
#include <span>

namespace rota::nn {

// Returns the score of the samples. `logits` are labels.size() × classes; labels are below
// `classes`. If `gradient` is not null, it becomes the gradient of the summed loss with respect to
// the logits. `gradient` may be `logits`.
template <class T>
Score softmax_cross_entropy(const T* logits, std::size_t classes,
                            std::span<const std::uint8_t> labels, T* gradient);

}  // namespace rota::nn
