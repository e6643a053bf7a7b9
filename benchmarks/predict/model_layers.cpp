// Builds the networks layer by layer, as the tables of their papers do.
#include "predict/model_layers.h"

#include <initializer_list>
#include <utility>

namespace rota::bench {
namespace {

constexpr std::size_t kClasses = 1000;

struct Convolution {
  std::size_t taps;      // Weights for each pair of an input and an output channel: 9 for 3 x 3.
  std::size_t channels;  // Of the output.
  std::size_t side;      // The output has side x side pixels.
};

// Convolutions one after another.
using Branch = std::vector<Convolution>;

class Network {
 public:
  // `per_channel` is the number of parameters of a channel beside its weights.
  explicit Network(std::size_t per_channel) : per_channel_(per_channel) {}

  // Adds the convolutions of a branch, whose input has `from` channels. Returns the number of
  // channels at its end.
  std::size_t add_branch(const std::string& name, std::size_t from, const Branch& branch) {
    for (std::size_t i = 0; i < branch.size(); ++i) {
      const Convolution& row = branch[i];
      const std::size_t weights = row.taps * from * row.channels;
      layers_.push_back({.name = name + "." + std::to_string(i + 1),
                         .parameters = weights + per_channel_ * row.channels,
                         .multiplications = static_cast<double>(weights * row.side * row.side)});
      from = row.channels;
    }
    return from;
  }

  // Adds branches with one input. Returns the number of channels of all branches together.
  std::size_t add_block(const std::string& name, std::size_t from,
                        std::initializer_list<Branch> branches) {
    std::size_t channels = 0;
    char letter = 'a';
    for (const Branch& branch : branches) {
      channels += add_branch(name + "." + letter++, from, branch);
    }
    return channels;
  }

  // Adds a fully connected layer, with biases.
  void connect(const std::string& name, std::size_t from, std::size_t to) {
    layers_.push_back({.name = name,
                       .parameters = from * to + to,
                       .multiplications = static_cast<double>(from * to)});
  }

  std::vector<ModelLayer> take() { return std::move(layers_); }

 private:
  std::size_t per_channel_;
  std::vector<ModelLayer> layers_;
};

constexpr std::size_t kBias = 1;
constexpr std::size_t kScaleAndOffset = 2;

// The blocks of Inception V3 with 35 x 35 pixels. `pooled` is the number of channels after the
// pooling.
std::size_t add_wide_block(Network& net, const std::string& name, std::size_t from,
                           std::size_t pooled) {
  return net.add_block(name, from,
                       {{{1, 64, 35}},
                        {{1, 48, 35}, {25, 64, 35}},
                        {{1, 64, 35}, {9, 96, 35}, {9, 96, 35}},
                        {{1, pooled, 35}}});
}

// The blocks with 17 x 17 pixels. `width` is the number of channels between 1 x 7 and 7 x 1.
std::size_t add_factorized_block(Network& net, const std::string& name, std::size_t from,
                                 std::size_t width) {
  return net.add_block(
      name, from,
      {{{1, 192, 17}},
       {{1, width, 17}, {7, width, 17}, {7, 192, 17}},
       {{1, width, 17}, {7, width, 17}, {7, width, 17}, {7, width, 17}, {7, 192, 17}},
       {{1, 192, 17}}});
}

// The blocks with 8 x 8 pixels. Two branches end in 1 x 3 and 3 x 1 side by side.
std::size_t add_deep_block(Network& net, const std::string& name, std::size_t from) {
  const auto add_fork = [&](const std::string& branch, const Branch& stem) {
    const std::size_t channels = net.add_branch(branch, from, stem);
    return net.add_block(branch, channels, {{{3, 384, 8}}, {{3, 384, 8}}});
  };
  std::size_t channels = net.add_branch(name + ".a", from, {{1, 320, 8}});
  channels += add_fork(name + ".b", {{1, 384, 8}});
  channels += add_fork(name + ".c", {{1, 448, 8}, {9, 384, 8}});
  return channels + net.add_branch(name + ".d", from, {{1, 192, 8}});
}

// The residual blocks of a stage. The first block has a shortcut, which changes the number of
// channels. Its first convolutions also halve the sides from the second stage on.
std::size_t add_residual_stage(Network& net, std::size_t stage, std::size_t from,
                               std::size_t blocks) {
  const std::size_t width = std::size_t{32} << stage;  // Stage 1 has 64 channels.
  const std::size_t side = std::size_t{112} >> stage;  // Stage 1 has 56 x 56 pixels.
  for (std::size_t i = 1; i <= blocks; ++i) {
    const std::string name = "stage" + std::to_string(stage) + "." + std::to_string(i);
    if (i == 1) net.add_branch(name + ".shortcut", from, {{1, 4 * width, side}});
    from = net.add_branch(name, from, {{1, width, side}, {9, width, side}, {1, 4 * width, side}});
  }
  return from;
}

}  // namespace

std::vector<ModelLayer> inception_v3_layers() {
  Network net(kScaleAndOffset);
  std::size_t channels = net.add_branch(
      "stem", 3, {{9, 32, 149}, {9, 32, 147}, {9, 64, 147}, {1, 80, 73}, {9, 192, 71}});
  channels = add_wide_block(net, "mixed0", channels, 32);
  channels = add_wide_block(net, "mixed1", channels, 64);
  channels = add_wide_block(net, "mixed2", channels, 64);
  channels +=
      net.add_block("mixed3", channels, {{{9, 384, 17}}, {{1, 64, 35}, {9, 96, 35}, {9, 96, 17}}});
  channels = add_factorized_block(net, "mixed4", channels, 128);
  channels = add_factorized_block(net, "mixed5", channels, 160);
  channels = add_factorized_block(net, "mixed6", channels, 160);
  channels = add_factorized_block(net, "mixed7", channels, 192);
  channels += net.add_block(
      "mixed8", channels,
      {{{1, 192, 17}, {9, 320, 8}}, {{1, 192, 17}, {7, 192, 17}, {7, 192, 17}, {9, 192, 8}}});
  channels = add_deep_block(net, "mixed9", channels);
  channels = add_deep_block(net, "mixed10", channels);
  net.connect("fc", channels, kClasses);
  return net.take();
}

std::vector<ModelLayer> resnet_101_layers() {
  Network net(kScaleAndOffset);
  std::size_t channels = net.add_branch("stem", 3, {{49, 64, 112}});
  std::size_t stage = 0;
  for (const std::size_t blocks : {3u, 4u, 23u, 3u}) {
    channels = add_residual_stage(net, ++stage, channels, blocks);
  }
  net.connect("fc", channels, kClasses);
  return net.take();
}

std::vector<ModelLayer> vgg_16_layers() {
  Network net(kBias);
  std::size_t channels = net.add_branch("conv1", 3, {{9, 64, 224}, {9, 64, 224}});
  channels = net.add_branch("conv2", channels, {{9, 128, 112}, {9, 128, 112}});
  channels = net.add_branch("conv3", channels, {{9, 256, 56}, {9, 256, 56}, {9, 256, 56}});
  channels = net.add_branch("conv4", channels, {{9, 512, 28}, {9, 512, 28}, {9, 512, 28}});
  channels = net.add_branch("conv5", channels, {{9, 512, 14}, {9, 512, 14}, {9, 512, 14}});
  net.connect("fc6", channels * 7 * 7, 4096);
  net.connect("fc7", 4096, 4096);
  net.connect("fc8", 4096, kClasses);
  return net.take();
}

}  // namespace rota::bench
