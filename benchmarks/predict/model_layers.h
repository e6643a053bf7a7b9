// The layers with parameters of three published networks for the images of ImageNet. The papers
// have the shapes of the layers. The numbers of parameters and multiplications follow from them.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace rota::bench {

struct ModelLayer {
  std::string name;
  // The weights; and for each channel its bias, or the scale and the offset of its normalization.
  std::size_t parameters = 0;
  double multiplications = 0;  // By the weights, in the forward pass of one image.
};

// Return the layers in forward order.
std::vector<ModelLayer> inception_v3_layers();  // arXiv 1512.00567, without the auxiliary head.
std::vector<ModelLayer> resnet_101_layers();    // arXiv 1512.03385.
std::vector<ModelLayer> vgg_16_layers();        // arXiv 1409.1556: configuration D.

}  // namespace rota::bench
