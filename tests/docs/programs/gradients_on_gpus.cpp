// Sums the gradients of your own model on GPUs, or on CPUs if this process sees no GPU. The model
// is a line, which is fitted to points by gradient descent.
#include <rota/device_gradient_buckets.h>
#include <rota/devices.h>

#include <array>
#include <cstdio>
#include <span>

using Line = std::array<float, 2>;   // y = line[0] * x + line[1]
constexpr std::size_t kPoints = 10;  // Of each rank.

bool sees_gpu() {
  try {
    rota::open_devices();
    return true;
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "computes on the CPU: %s\n", error.what());
    return false;
  }
}

// Returns the gradients of the squared errors, added up over the points of this rank.
Line gradients_of(const Line& line, std::size_t rank) {
  Line sums{};
  for (std::size_t i = 0; i < kPoints; ++i) {
    const float x = static_cast<float>(rank * kPoints + i) / 20;
    const float error = line[0] * x + line[1] - (3 * x + 1);
    sums[0] += 2 * error * x;
    sums[1] += 2 * error;
  }
  return sums;
}

// The kernels of your model write a gradient where its bucket is. This model copies it there.
void put(rota::DeviceSpan<float> gradient, float value) {
  rota::copy_to_device(gradient, std::span(&value, 1));
}
void put(std::span<float> gradient, float value) { gradient[0] = value; }

float get(rota::DeviceSpan<float> gradient) {
  float value = 0;
  rota::copy_from_device(std::span(&value, 1), gradient);
  return value;
}
float get(std::span<float> gradient) { return gradient[0]; }

template <class Buckets>
Line fit(rota::Communicator& ranks, Buckets& buckets) {
  Line line{};
  for (int step = 0; step < 200; ++step) {
    const Line gradients = gradients_of(line, ranks.rank());
    buckets.begin_step(kPoints);
    for (std::size_t index = line.size(); index-- > 0;) {
      put(buckets.gradient(index), gradients[index]);
      buckets.ready(index);  // A bucket leaves when all of its gradients are ready.
    }
    buckets.wait();  // Now each gradient is the sum over the points of all ranks.
    const auto points = static_cast<float>(buckets.world_sample_count());
    for (std::size_t index = 0; index < line.size(); ++index) {
      line[index] -= 0.5F * get(buckets.gradient(index)) / points;
    }
  }
  return line;
}

constexpr std::array<std::size_t, 2> kCounts = {1, 1};  // The elements of each gradient.

Line fit_on_gpu(rota::Communicator& ranks) {
  rota::DeviceGradientBuckets<float> buckets(ranks, kCounts);
  return fit(ranks, buckets);
}

Line fit_on_cpu(rota::Communicator& ranks) {
  rota::GradientBuckets<float> buckets(ranks, kCounts);
  return fit(ranks, buckets);
}

int main() {
  const bool is_on_gpu = sees_gpu();  // Before there is a communicator.
  rota::Communicator ranks;
  const Line line = is_on_gpu ? fit_on_gpu(ranks) : fit_on_cpu(ranks);
  if (ranks.rank() == 0) std::printf("y = %.2f x + %.2f\n", line[0], line[1]);
  return 0;
}
