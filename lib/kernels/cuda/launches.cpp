// Fills the table of all kernels for GPUs.
#include "kernels/cuda/launches.h"

#include "kernels/cuda/launch.h"
#include "kernels/cuda/tables.h"

namespace rota::kernels::cuda {

#if defined(__CUDACC__)
std::vector<const void*>& all_kernels() {
  static std::vector<const void*> all;
  return all;
}
#endif

const Launches& launches() noexcept {
  static const Launches kAll = [] {
    Launches filled;
    add_float_reductions(filled);
    add_integer_reductions(filled);
    add_casts(filled);
    add_codings(filled);
    add_updates(filled);
    add_layers(filled);
    add_images(filled);
    return filled;
  }();
  return kAll;
}

}  // namespace rota::kernels::cuda

const rota::kernels::cuda::Launches* rota_kernels_of_cuda() noexcept {
  return &rota::kernels::cuda::launches();
}
