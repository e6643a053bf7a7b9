// How an optimizer's step changes a model's parameters.
#pragma once

namespace rota::kernels {

template <class T>
struct Hyperparameters {  // Of sgd_update; see rota::Sgd for what they mean.
  T learning_rate;
  T momentum;
  T weight_decay;
  T gradient_scale;
};

}  // namespace rota::kernels
