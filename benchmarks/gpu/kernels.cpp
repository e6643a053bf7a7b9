// Kernels that only read and write are as fast as the device's memory. So each is compared with a
// copy: both move the same number of bytes, reads and writes together.
#include <rota/device_memory.h>
#include <rota/devices.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "gpu/commands.h"
#include "gpu/row.h"
#include "gpu/timer.h"
#include "kernels/cuda/launches.h"

namespace rota::bench::gpu {
namespace {

using kernels::cuda::kMostInputs;
using kernels::cuda::Launches;
using kernels::cuda::Queue;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kSizes[] = {64 * kMebibyte, 256 * kMebibyte};  // Of one array.
constexpr double kLeastRatio = 0.9;

// Arrays of one size in the memory of device 0. They are zero, so every kernel may run on them
// again and again.
class Arrays {
 public:
  explicit Arrays(std::size_t bytes) : count_(bytes / sizeof(float)) {
    for (unsigned i = 0; i <= kMostInputs; ++i) blocks_.push_back(allocate_device(bytes));
  }
  std::size_t count() const { return count_; }
  std::byte* at(std::size_t index) const { return blocks_[index].bytes().address(); }
  float* floats(std::size_t index) const { return blocks_[index].as<float>().address(); }

 private:
  std::size_t count_;
  std::vector<DeviceBlock> blocks_;
};

struct Case {
  std::string name;
  double bytes;  // For each float of an array, reads and writes together.
  std::function<int(const Queue&)> launch;
};

kernels::cuda::Reduction sum_of(const Arrays& arrays, unsigned inputs) {
  kernels::cuda::Reduction sum{};
  for (unsigned i = 0; i < inputs; ++i) sum.inputs[i] = arrays.at(i);
  sum.input_count = inputs;
  sum.to = arrays.at(kMostInputs);
  sum.count = arrays.count();
  return sum;
}

void add_reductions(const Launches& launches, const Arrays& arrays, std::vector<Case>& cases) {
  const auto& of_floats = launches.of(DataType::kFloat32);
  const auto reduce = of_floats.reduce[static_cast<std::size_t>(ReduceOp::kSum)];
  for (const unsigned inputs : {2U, kMostInputs}) {
    cases.push_back(
        {"sum of " + std::to_string(inputs) + " arrays", 4.0 * (inputs + 1),
         [=, &arrays](const Queue& queue) { return reduce(queue, sum_of(arrays, inputs)); }});
  }
  cases.push_back({"scale", 8, [&of_floats, &arrays](const Queue& queue) {
                     return of_floats.scale(queue, arrays.at(0), arrays.count(), -1);
                   }});
  const auto cast = of_floats.cast_to[static_cast<std::size_t>(DataType::kBfloat16)];
  cases.push_back({"cast to bfloat16", 6, [=, &arrays](const Queue& queue) {
                     return cast(queue, arrays.at(1), arrays.at(0), arrays.count());
                   }});
}

void add_codecs(const Launches& launches, const Arrays& arrays, std::vector<Case>& cases) {
  for (const Codec codec : {Codec::kBfloat16, Codec::kInt8, Codec::kInt8Stochastic, Codec::kTopK}) {
    const auto& kernels = launches.of(codec);
    const double coded = static_cast<double>(kernels::coded_bytes(codec, arrays.count())) /
                         static_cast<double>(arrays.count());
    const std::string name(to_string(codec));
    cases.push_back({"encode by " + name, 4 + coded, [&kernels, &arrays](const Queue& queue) {
                       return kernels.encode(queue, arrays.at(1), arrays.at(0), arrays.count(), {});
                     }});
    cases.push_back(
        {"decode and add by " + name, 8 + coded, [&kernels, &arrays](const Queue& queue) {
           return kernels.add(queue, arrays.at(2), arrays.at(2), arrays.at(1), arrays.count(), 1);
         }});
  }
}

void add_updates(const Launches& launches, const Arrays& arrays, std::vector<Case>& cases) {
  cases.push_back(
      {"SGD with momentum", 20, [&](const Queue& queue) {
         return launches.float32.sgd(
             queue, arrays.floats(0), arrays.floats(1), arrays.floats(2), arrays.count(),
             {.learning_rate = 0.1F, .momentum = 0.9F, .weight_decay = 0, .gradient_scale = 1});
       }});
  cases.push_back({"Adam", 28, [&](const Queue& queue) {
                     return launches.float32.adam(queue, arrays.floats(0), arrays.floats(1),
                                                  arrays.floats(2), arrays.floats(3),
                                                  arrays.count(),
                                                  {.beta1 = 0.9F,
                                                   .beta2 = 0.999F,
                                                   .weight_decay = 0,
                                                   .rate = 0.001F,
                                                   .correction = 1,
                                                   .epsilon = 1e-8F,
                                                   .gradient_scale = 1});
                   }});
}

// The norm by which gradients are clipped.
void add_norm(const Launches& launches, const Arrays& arrays, std::vector<Case>& cases) {
  cases.push_back({"squared norm", 4, [&](const Queue& queue) {
                     auto* result = reinterpret_cast<double*>(arrays.at(1));
                     auto* sums = reinterpret_cast<double*>(arrays.at(2));
                     return launches.of(DataType::kFloat32)
                         .squared_norm(queue, result, sums, arrays.at(0), arrays.count());
                   }});
}

}  // namespace

void measure_kernels() {
  open_devices();
  const Launches& launches = *rota_kernels_of_cuda();
  for (const std::size_t bytes : kSizes) {
    const Arrays arrays(bytes);
    Timer timer(0);
    const double copy_seconds = timer.seconds_of(
        [&] { return device::calls().copy(timer.on(), arrays.at(1), arrays.at(0), bytes); });
    const double copy_rate = 2 * static_cast<double>(bytes) / copy_seconds / 1e9;
    std::vector<Case> cases;
    add_reductions(launches, arrays, cases);
    add_codecs(launches, arrays, cases);
    add_updates(launches, arrays, cases);
    add_norm(launches, arrays, cases);
    const Queue queue = timer.queue();
    for (const Case& each : cases) {
      const double seconds = timer.seconds_of([&] { return each.launch(queue); });
      const double moved = each.bytes * static_cast<double>(arrays.count());
      const Row row{.what = each.name + ", " + std::to_string(bytes / kMebibyte) + " MiB",
                    .value = moved / seconds / 1e9,
                    .unit = "GB/s",
                    .peer = "copy",
                    .peer_value = copy_rate,
                    .least_ratio = kLeastRatio};
      std::printf("%s\n", to_json(row).c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace rota::bench::gpu
