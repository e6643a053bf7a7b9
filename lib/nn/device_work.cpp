// Makes a stream and its products.
#include "nn/device_work.h"

#include <string>

#include <rota/error.h>

namespace rota::nn {

DeviceWork::DeviceWork(std::uint8_t device) : calls_(device::calls()), stream_(device) {
  if (calls_.models.make_products == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("models cannot be trained on a device: the library in use, ") +
                    calls_.name + ", has no functions for models");
  }
  const int error = calls_.models.make_products(on(), products_);
  if (error == cuda::kNoProducts) {
    throw Error(ErrorCode::kNotFound,
                "models cannot be trained on device " + std::to_string(device) +
                    ": there is no libcublas.so.13, which computes products of matrices; install "
                    "cuBLAS, or add its folder to LD_LIBRARY_PATH");
  }
  check(error, "the making of products");
}

DeviceWork::~DeviceWork() {
  if (device::calls_in_use()) calls_.models.destroy_products(on(), products_);
}

void DeviceWork::multiply(const cuda::Product& product) {
  check(models().multiply(on(), products_, product), "a product");
}

void DeviceWork::settle() { stream_.finish("end the work of a model"); }

void DeviceWork::reserve(DeviceBlock& block, std::size_t count) {
  if (count * sizeof(float) <= block.bytes().size()) return;
  settle();
  block = {};  // Frees the old memory first: there may be no room for both.
  block = allocate_device(count * sizeof(float), on().device);
}

}  // namespace rota::nn
