// Has the kernels of optimizers, and of the norms by which gradients are clipped.
#include "kernels/cuda/updates.h"

#include "kernels/cuda/norms.h"
#include "kernels/cuda/tables.h"

namespace rota::kernels::cuda {

void add_updates(Launches& launches) noexcept {
  launches.float32 = {sgd<float>, adam<float>};
  launches.float64 = {sgd<double>, adam<double>};
  launches_of(launches, DataType::kFloat32).squared_norm = squared_norm<float>;
  launches_of(launches, DataType::kFloat64).squared_norm = squared_norm<double>;
}

}  // namespace rota::kernels::cuda
