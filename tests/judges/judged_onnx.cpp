// Writes models as ONNX files, and what rota computes with them, for judge_onnx.py. Each model has
// a folder with model.onnx, bytes.onnx (with bytes as input and probabilities as output), the
// images as bytes, and rota's logits. With one argument, writes what the example your_own_model
// computes.
#include <rota/idx.h>
#include <rota/onnx.h>
#include <rota/safetensors.h>
#include <rota/trainer.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "examples/mnist/models.h"
#include "examples/your_own_model/network.h"
#include "nn/bound_model.h"

namespace rota {
namespace {

void write_values(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.exceptions(std::ios::failbit);
  file.close();
}

// Returns what Model::predict() gives for all images of `data`. `model` is read only, so a model
// with copies of its values predicts.
std::vector<float> logits_of(const Model<float>& model,
                             const std::vector<std::span<const float>>& values,
                             const Dataset& data) {
  testing::BoundModel<float> copy(model.input_shape(),
                                  {model.layers().begin(), model.layers().end()});
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::ranges::copy(values[i], copy.values(i).begin());
  }
  std::vector<std::uint64_t> samples(data.count());
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  BatchBuffer<float> buffer(data, data.count());
  return copy->predict(buffer.gather(samples));
}

void write_model(const std::filesystem::path& folder, const Model<float>& model,
                 const std::vector<std::span<const float>>& values, const Dataset& data) {
  std::filesystem::create_directories(folder);
  write_onnx<float>(model, values, folder / "model.onnx",
                    {.step = 7, .run = "cd34", .data_digest = "ab12"});
  write_onnx<float>(model, values, folder / "bytes.onnx", {.takes_bytes = true, .softmax = true});
  const std::vector<float> logits = logits_of(model, values, data);
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

// Writes what the network of the example your_own_model computes with its doubles, which the
// example has published in `folder`. The points are rounded to floats before.
void write_of_stranger(const std::filesystem::path& folder) {
  const SafetensorsFile file(folder / "models" / "1" / "model.safetensors");
  Network network;
  const auto take = [&](const char* name, std::vector<double>& values) {
    std::memcpy(values.data(), file.tensor(name).values.data(), values.size() * sizeof(double));
  };
  take("hidden", network.hidden);
  take("output", network.output);
  std::vector<float> points;
  std::vector<double> inside;
  Network::Units units{};
  for (const Point& point : draw_points(1000)) {
    const auto x = static_cast<float>(point.x);
    const auto y = static_cast<float>(point.y);
    points.insert(points.end(), {x, y});
    inside.push_back(network.probability_of_inside({x, y}, units));
  }
  write_values(folder / "points.f32", std::as_bytes(std::span(points)));
  write_values(folder / "inside.f64", std::as_bytes(std::span(inside)));
}

}  // namespace
}  // namespace rota

int main(int count, char** arguments) {
  if (count == 2) {
    rota::write_of_stranger(arguments[1]);
  } else {
    rota::write_all(arguments[1], arguments[2]);
  }
}
