// Images to train on where none are at hand.
#pragma once
#include <cstddef>
#include <cstdint>

#include <rota/dataset.h>

namespace rota::bench {

// `count` images of the shape and classes of MNIST, of which a model can learn something: a bar
// whose height is the label, on noise. A function of its arguments alone.
Dataset make_digits(std::size_t count, std::uint32_t seed);

}  // namespace rota::bench
