// A convolution by Winograd's method. It transforms each tile, and the window of each filter,
// into 64 values, which have places called points. It multiplies inputs and weights point by point,
// and transforms the products back. For a whole tile, 64 multiplications replace 400 for a window
// of 5 × 5, and 324 for 3 × 3. Lavin and Gray, "Fast algorithms for convolutional neural networks",
// CVPR 2016.
#pragma once
#include "kernels/tiles.h"
#include "nn/buffer.h"
#include "nn/filters.h"

namespace rota::nn {

template <class T>
class TiledConvolution final : public Filters<T> {
 public:
  // Returns whether this method can run the layer, and is faster than Convolution. It is faster
  // only with several input channels and several filters.
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

  // `count` consecutive samples of the batch.
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
  std::size_t side_;  // Side of the square of output pixels of a tile.
  std::size_t tile_rows_;
  std::size_t tile_columns_;
  // Whole tiles reach beyond the output's last row and column. padded_output_ is the shape of all
  // output tiles together. padded_input_ is the shape of the input pixels from which they are
  // computed: it also has the border, half a window on each side.
  ImageShape padded_input_;
  ImageShape padded_output_;
  std::size_t capacity_;  // Number of images handled together.
  Buffer<T> image_;       // One padded image.
  // For each point: tiles × channels, tiles × filters, and channels × filters.
  Buffer<T> inputs_;
  Buffer<T> outputs_;
  Buffer<T> weights_at_points_;
};

}  // namespace rota::nn
