// Softmax and its loss in double, whatever the type of the logits: there are few of them.
#include "nn/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace rota::nn {

template <class T>
Score softmax_cross_entropy(const T* logits, std::size_t classes,
                            std::span<const std::uint8_t> labels, T* gradient) {
  Score score;
  score.samples = labels.size();
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    const T* row = logits + sample * classes;
    const std::size_t label = labels[sample];
    const T* greatest = std::max_element(row, row + classes);
    if (greatest == row + label) ++score.correct;
    // Relative to the greatest logit no exponential can overflow, and one of them is 1.
    const auto shift = static_cast<double>(*greatest);
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(static_cast<double>(row[i]) - shift);
    score.loss += std::log(sum) - (static_cast<double>(row[label]) - shift);
    if (gradient == nullptr) continue;
    T* to = gradient + sample * classes;
    for (std::size_t i = 0; i < classes; ++i) {
      const double probability = std::exp(static_cast<double>(row[i]) - shift) / sum;
      to[i] = static_cast<T>(i == label ? probability - 1 : probability);
    }
  }
  return score;
}

template Score softmax_cross_entropy(const float*, std::size_t, std::span<const std::uint8_t>,
                                     float*);
template Score softmax_cross_entropy(const double*, std::size_t, std::span<const std::uint8_t>,
                                     double*);

}  // namespace rota::nn
