// A convolution after Winograd: tile by tile, and in each as products at 64 points, which are a
// fifth of the multiplications that a window of 5 × 5 takes otherwise, and a quarter of 3 × 3's.
// Lavin and Gray, "Fast algorithms for convolutional neural networks", CVPR 2016.
#pragma once
#include "kernels/tiles.h"
#include "nn/buffer.h"
#include "nn/filters.h"

namespace rota::nn {

template <class T>
class TiledConvolution final : public Filters<T> {
 public:
  // Whether it is the faster way: the products need some channels on either side.
  static bool suits(ImageShape input, const Layer& layer) noexcept;

  TiledConvolution(ImageShape input, const Layer& layer);

  void forward(const Pass& pass, const T* input, T* output) override;
  void parameter_gradients(const Pass& pass, const Backward<T>& backward) override;
  void input_gradient(const Pass& pass, const Backward<T>& backward) override;

 private:
  using Filters<T>::input_;
  using Filters<T>::output_;
  using Filters<T>::window_;
  using Filters<T>::weights_;
  using Filters<T>::weights_gradient_;
  using Filters<T>::biases_;
  using Filters<T>::biases_gradient_;

  // A run of `count` of the batch's samples.
  struct Run {
    std::size_t first;
    std::size_t count;
  };
  Run run_from(std::size_t first, std::size_t samples) const noexcept;
  std::size_t tiles_of(Run run) const noexcept { return run.count * tile_rows_ * tile_columns_; }

  void expand_weights() noexcept;
  void expand_inputs(const T* images, Run run) noexcept;
  void expand_output_gradients(const T* images, Run run) noexcept;
  void contract_outputs(T* images, Run run) noexcept;
  void contract_input_gradients(T* images, Run run) noexcept;

  kernels::TileTransforms<T> transforms_;
  std::size_t side_;  // Of the square that a tile has of the output.
  std::size_t tile_rows_;
  std::size_t tile_columns_;
  ImageShape padded_input_;  // What the tiles take in and
  ImageShape
      padded_output_;     // what they give: borders, and what is beyond the last row and column.
  std::size_t capacity_;  // Images that are handled at once.
  Buffer<T> image_;       // One, padded.
  // By points: tiles × channels, tiles × filters, and channels × filters.
  Buffer<T> inputs_;
  Buffer<T> outputs_;
  Buffer<T> weights_at_points_;
};

}  // namespace rota::nn
