// Labelled images as samples, and the trainer of the models that are here, compiled once.
#include <rota/trainer.h>

#include <memory>

#include <rota/error.h>

#include "base/hash.h"

namespace rota {
namespace {

std::string to_text(const ImageShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " +
         std::to_string(shape.channels);
}

void check_fit(const std::string& name, const Dataset& data, const ImageShape& shape,
               std::size_t classes) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument, "the " + name + " set " + why);
  };
  if (data.shape.rows != shape.rows || data.shape.columns != shape.columns ||
      data.shape.channels != shape.channels) {
    refuse("has images of " + to_text(data.shape) + ", the model takes " + to_text(shape));
  }
  if (data.pixels.size() != data.count() * shape.count()) {
    refuse("has " + std::to_string(data.pixels.size()) + " pixels for " +
           std::to_string(data.count()) + " images of " + to_text(shape));
  }
  if (data.count() == 0) refuse("is empty");
  const std::size_t largest = *std::max_element(data.labels.begin(), data.labels.end());
  if (largest >= classes) {
    refuse("has a label " + std::to_string(largest) + ", the model has " + std::to_string(classes) +
           " classes");
  }
}

}  // namespace

template <class T>
SampleSource<Batch<T>> samples_of(const Dataset& data, const Model<T>& model,
                                  std::size_t largest_batch, const std::string& name) {
  check_fit(name, data, model.input_shape(), model.classes());
  const auto hash = base::fnv1a(std::as_bytes(std::span(data.labels)));
  auto buffer = std::make_shared<BatchBuffer<T>>(data, largest_batch);
  return {data.count(), "labels' hash " + std::to_string(hash),
          [buffer = std::move(buffer)](const SampleRun& run) {
            Batch<T> batch = buffer->gather(run.samples);
            batch.seed = run.seed;
            batch.step = run.step;
            return batch;
          }};
}

template SampleSource<Batch<float>> samples_of(const Dataset&, const Model<float>&, std::size_t,
                                               const std::string&);
template SampleSource<Batch<double>> samples_of(const Dataset&, const Model<double>&, std::size_t,
                                                const std::string&);

template class Trainer<float>;
template class Trainer<double>;

}  // namespace rota
