// A model that has memory for its parameters, and batches of training data.
#pragma once
#include <rota/model.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

namespace rota::testing {

// Values at a 64-byte boundary, `shift` boundaries after the one that the allocator gave.
template <class T>
class AlignedValues {
 public:
  explicit AlignedValues(std::size_t count, std::size_t shift = 0)
      : memory_(static_cast<std::byte*>(
            ::operator new(count * sizeof(T) + shift * 64, std::align_val_t(64)))),
        values_(reinterpret_cast<T*>(memory_.get() + shift * 64), count) {
    for (T& value : values_) value = T{-1};  // Code that relies on zeros must fail.
  }

  std::span<T> span() const noexcept { return values_; }

 private:
  struct Deleter {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete(memory, std::align_val_t(64));
    }
  };
  std::unique_ptr<std::byte, Deleter> memory_;
  std::span<T> values_;
};

template <class T>
class BoundModel {
 public:
  BoundModel(ImageShape input, const std::vector<Layer>& layers, std::size_t shift = 0)
      : model_(input, layers) {
    for (const ParameterInfo& parameter : model_.parameters()) {
      values_.emplace_back(parameter.count(), shift);
      gradients_.emplace_back(parameter.count(), shift);
    }
    for (std::size_t i = 0; i < values_.size(); ++i) model_.bind(i, values(i), gradient(i));
  }

  Model<T>& operator*() noexcept { return model_; }
  Model<T>* operator->() noexcept { return &model_; }
  std::size_t parameter_count() const noexcept { return values_.size(); }
  std::span<T> values(std::size_t index) const noexcept { return values_[index].span(); }
  std::span<T> gradient(std::size_t index) const noexcept { return gradients_[index].span(); }

 private:
  std::vector<AlignedValues<T>> values_;
  std::vector<AlignedValues<T>> gradients_;
  Model<T> model_;
};

// Samples with random inputs in [-1, 1) and random labels, determined by `seed`.
template <class T>
struct RandomSamples {
  std::vector<T> inputs;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint64_t> identities;

  RandomSamples(std::size_t samples, std::size_t features, std::size_t classes, unsigned seed = 7) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < samples * features; ++i) {
      inputs.push_back(static_cast<T>(random()) / static_cast<T>(1U << 31) - 1);
    }
    for (std::size_t i = 0; i < samples; ++i) {
      labels.push_back(static_cast<std::uint8_t>(random() % classes));
      identities.push_back(1000 + i);
    }
  }

  Batch<T> batch(std::uint64_t step = 0) const {
    return {.inputs = inputs, .labels = labels, .samples = identities, .seed = 3, .step = step};
  }
};

}  // namespace rota::testing
