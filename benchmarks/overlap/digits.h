// Makes images to train on, so that the benchmark needs no data set.
#pragma once
#include <cstddef>
#include <cstdint>

#include <rota/dataset.h>

namespace rota::bench {

// Returns `count` images with the shape and classes of MNIST. Each image is noise with one
// horizontal bar. The row of the bar depends on the label, so a model can learn the labels. The
// same arguments give the same images.
Dataset make_digits(std::size_t count, std::uint32_t seed);

}  // namespace rota::bench
