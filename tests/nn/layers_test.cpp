// Tests which layers fit together, how their parameters are named, and the messages about layers
// that do not fit.
#include <gtest/gtest.h>
#include <rota/error.h>
#include <rota/model.h>

#include <limits>
#include <string>
#include <vector>

namespace rota {
namespace {

std::string refusal_of_layers(ImageShape input, const std::vector<Layer>& layers) {
  try {
    const Model<float> model(input, layers);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing";
}

constexpr ImageShape kGreyImage = {4, 5, 1};

TEST(Layers, NameTheirParametersAndTheirShapes) {
  const Model<float> model({28, 28, 1},
                           {convolution(32, 5), relu(), max_pool(2), convolution(64, 5), relu(),
                            max_pool(2), dense(512), relu(), dropout(0.5), dense(10)});
  std::string text;
  for (const ParameterInfo& parameter : model.parameters()) {
    text += parameter.name;
    for (std::size_t extent : parameter.shape) text += " " + std::to_string(extent);
    text += "\n";
  }
  EXPECT_EQ(text,
            "0.convolution.weights 5 5 1 32\n"
            "0.convolution.biases 32\n"
            "3.convolution.weights 5 5 32 64\n"
            "3.convolution.biases 64\n"
            "6.dense.weights 3136 512\n"
            "6.dense.biases 512\n"
            "9.dense.weights 512 10\n"
            "9.dense.biases 10\n");
  EXPECT_EQ(model.classes(), 10U);
  EXPECT_EQ(model.input_shape().rows, 28U);
}

TEST(Layers, AnImageWithoutValuesIsRefused) {
  EXPECT_EQ(refusal_of_layers({0, 5, 1}, {dense(2)}),
            "the input has no values: give rows, columns and channels");
}

TEST(Layers, NoLayersAreRefused) {
  EXPECT_EQ(refusal_of_layers(kGreyImage, {}), "a model needs at least one layer");
}

TEST(Layers, ALastLayerForFewerThanTwoClassesIsRefused) {
  EXPECT_EQ(refusal_of_layers(kGreyImage, {dense(1)}),
            "the last layer has 1 output; it needs one for each class, and at least 2");
}

TEST(Layers, AWindowThatIsLargerThanTheImageIsRefused) {
  EXPECT_EQ(
      refusal_of_layers(kGreyImage, {max_pool(2), relu(), max_pool(2), max_pool(2), dense(2)}),
      "layer 3 (max_pool 2): the image is 1 × 1, smaller than the window");
  EXPECT_EQ(refusal_of_layers(kGreyImage, {dense(9), max_pool(3)}),
            "layer 1 (max_pool 3): the image is 1 × 1, smaller than the window");
}

TEST(Layers, EmptyLayersAreRefused) {
  EXPECT_EQ(refusal_of_layers(kGreyImage, {dense(0)}), "layer 0 (dense 0): it has no units");
  EXPECT_EQ(refusal_of_layers(kGreyImage, {convolution(0, 3)}),
            "layer 0 (convolution 0 of 3 × 3): it has no filters");
  EXPECT_EQ(refusal_of_layers(kGreyImage, {max_pool(0)}),
            "layer 0 (max_pool 0): the window is empty");
}

TEST(Layers, AnEvenWindowIsRefused) {
  EXPECT_EQ(refusal_of_layers(kGreyImage, {convolution(3, 4)}),
            "layer 0 (convolution 3 of 4 × 4): the window must be odd, to have a middle");
  EXPECT_EQ(refusal_of_layers(kGreyImage, {convolution(3, 0)}),
            "layer 0 (convolution 3 of 0 × 0): the window must be odd, to have a middle");
}

TEST(Layers, ARateThatIsNoShareIsRefused) {
  EXPECT_EQ(refusal_of_layers(kGreyImage, {dropout(1), dense(2)}),
            "layer 0 (dropout 1): the rate must be at least 0 and below 1");
  EXPECT_EQ(refusal_of_layers(kGreyImage, {dropout(-0.5), dense(2)}),
            "layer 0 (dropout -0.5): the rate must be at least 0 and below 1");
  EXPECT_EQ(refusal_of_layers(kGreyImage, {dropout(1.0000001), dense(2)}),
            "layer 0 (dropout 1.0000001): the rate must be at least 0 and below 1");
  EXPECT_EQ(
      refusal_of_layers(kGreyImage, {dropout(std::numeric_limits<double>::quiet_NaN()), dense(2)}),
      "layer 0 (dropout nan): the rate must be at least 0 and below 1");
}

}  // namespace
}  // namespace rota
