// Adds up the scores of samples.
#include "nn/softmax_cross_entropy.h"

#include "kernels/layer_steps.h"

namespace rota::nn {

template <class T>
Score softmax_cross_entropy(const T* logits, std::size_t classes,
                            std::span<const std::uint8_t> labels, T* gradient) {
  Score score;
  score.samples = labels.size();
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    const std::size_t first = sample * classes;
    const kernels::Verdict verdict =
        kernels::softmax_cross_entropy(logits + first, classes, std::size_t{labels[sample]},
                                       gradient == nullptr ? nullptr : gradient + first);
    score.loss += verdict.loss;
    if (verdict.is_correct) ++score.correct;
  }
  return score;
}

template Score softmax_cross_entropy(const float*, std::size_t, std::span<const std::uint8_t>,
                                     float*);
template Score softmax_cross_entropy(const double*, std::size_t, std::span<const std::uint8_t>,
                                     double*);

}  // namespace rota::nn
