// Writes models as ONNX files, and what rota computes with them, for judge_onnx.py. Each model has
// a folder with model.onnx, bytes.onnx (with bytes as input and probabilities as output), the
// images as bytes, and rota's logits.
#include <rota/idx.h>
#include <rota/onnx.h>
#include <rota/trainer.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "examples/mnist/models.h"
#include "nn/bound_model.h"
#include "nn/host_math.h"
#include "nn/make_module.h"

namespace rota {
namespace {

constexpr std::size_t kSamplesTogether = 100;

void write_values(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.exceptions(std::ios::failbit);
  file.close();
}

// Computes logits: runs the modules of a model one after the other. A Model returns only the loss
// and the number of correct answers.
class Logits {
 public:
  Logits(ImageShape shape, std::span<const Layer> layers,
         std::span<const std::span<const float>> values) {
    for (std::size_t i = 0, parameter = 0; i < layers.size(); ++i) {
      modules_.push_back(nn::make_module(nn::HostMath<float>(), layers[i], i, shape));
      const std::size_t count = modules_.back()->parameters().size();
      for (std::size_t k = 0; k < count; ++k) {
        copies_.emplace_back(values[parameter].size());
        std::ranges::copy(values[parameter++], copies_.back().span().begin());
        modules_.back()->bind(k, copies_.back().span().data(), nullptr);
      }
      modules_.back()->reserve(kSamplesTogether);
      shape = modules_.back()->output_shape();
      widest_ = std::max(widest_, shape.count());
    }
    classes_ = shape.count();
  }

  // `inputs` has whole samples, at most kSamplesTogether.
  void append_to(std::vector<float>& logits, std::span<const float> inputs, std::size_t samples) {
    testing::AlignedValues<float> from(std::max(inputs.size(), samples * widest_));
    testing::AlignedValues<float> to(samples * widest_);
    std::ranges::copy(inputs, from.span().begin());
    nn::Pass pass;
    pass.samples = samples;
    for (const auto& module : modules_) {
      module->forward(pass, from.span().data(), to.span().data());
      std::swap(from, to);
    }
    const auto result = from.span().first(samples * classes_);
    logits.insert(logits.end(), result.begin(), result.end());
  }

 private:
  std::vector<std::unique_ptr<nn::Module<float>>> modules_;
  std::vector<testing::AlignedValues<float>> copies_;
  std::size_t widest_ = 0;
  std::size_t classes_ = 0;
};

void write_model(const std::filesystem::path& folder, const Model<float>& model,
                 const std::vector<std::span<const float>>& values, const Dataset& data) {
  std::filesystem::create_directories(folder);
  write_onnx<float>(model, values, folder / "model.onnx", {.step = 7, .data_digest = "ab12"});
  write_onnx<float>(model, values, folder / "bytes.onnx", {.takes_bytes = true, .softmax = true});
  Logits run(model.input_shape(), model.layers(), values);
  std::vector<float> logits;
  BatchBuffer<float> buffer(data, kSamplesTogether);
  for (std::size_t first = 0; first < data.count(); first += kSamplesTogether) {
    std::vector<std::uint64_t> samples(std::min(kSamplesTogether, data.count() - first));
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = first + i;
    run.append_to(logits, buffer.gather(samples).inputs, samples.size());
  }
  write_values(folder / "logits.f32", std::as_bytes(std::span(logits)));
  const auto& shape = data.shape;
  std::ofstream(folder / "shape.txt")
      << shape.rows << " " << shape.columns << " " << shape.channels;
  write_values(folder / "images.u8", std::as_bytes(std::span(data.pixels)));
}

void write_drawn(const std::filesystem::path& folder, ImageShape shape,
                 const std::vector<Layer>& layers, const Dataset& data) {
  testing::BoundModel<float> model(shape, layers);
  model->initialize(5);
  std::vector<std::span<const float>> values;
  std::mt19937 random(3);
  for (std::size_t i = 0; i < model.parameter_count(); ++i) {
    // Biases are drawn too, since zeros would hide a wrong order.
    for (float& value : model.values(i)) {
      value += static_cast<float>(random()) / static_cast<float>(1U << 31) / 50 - 0.02F;
    }
    values.push_back(model.values(i));
  }
  write_model(folder, *model, values, data);
}

// Returns models that together have each pair of neighbouring layers that needs special nodes in
// the graph. The sides of the images are not multiples of the windows of max_pool().
std::vector<std::pair<std::string, std::vector<Layer>>> odd_models() {
  return {
      {"ends_with_image", {convolution(3, 3), dropout(0.5), max_pool(2), sigmoid()}},
      {"image_of_a_dense_layer", {relu(), dense(12), convolution(5, 3), relu(), dense(3)}},
      {"pool_first", {max_pool(2), relu(), convolution(4, 3), max_pool(3), dropout(0.1), dense(4)}},
      {"no_parameters", {dropout(0.3)}},
      {"pool_of_a_dense_layer", {dense(6), sigmoid(), max_pool(1)}},
  };
}

Dataset odd_images() {
  Dataset data;
  data.shape = {13, 7, 3};
  data.classes = 2;
  data.labels.resize(50);
  std::mt19937 random(11);
  for (std::size_t i = 0; i < 50 * data.shape.count(); ++i) {
    data.pixels.push_back(static_cast<std::uint8_t>(random()));
  }
  return data;
}

void write_all(const std::filesystem::path& folder, const std::filesystem::path& mnist) {
  const TrainAndTest data = read_idx_folder(mnist);
  Communicator alone{CommunicatorOptions{}};
  Model<float> model(data.train.shape, layers_of("mlp", 10));
  Trainer<float> trainer(alone, std::move(model), data.train, data.test,
                         {.epochs = 1, .batch_size = 100});
  trainer.run();
  std::vector<std::span<const float>> values;
  for (std::size_t i = 0; i < trainer.replica().model().parameters().size(); ++i) {
    values.push_back(trainer.replica().values(i));
  }
  write_model(folder / "mlp", trainer.replica().model(), values, data.test);
  for (const std::string name : {"seed", "lenet"}) {
    std::vector<Layer> layers = layers_of(name, 10);
    layers.insert(layers.end() - 1, dropout(0.5));
    write_drawn(folder / name, data.test.shape, layers, data.test);
  }
  const Dataset odd = odd_images();
  for (const auto& [name, layers] : odd_models()) {
    write_drawn(folder / name, odd.shape, layers, odd);
  }
}

}  // namespace
}  // namespace rota

int main(int, char** arguments) { rota::write_all(arguments[1], arguments[2]); }
