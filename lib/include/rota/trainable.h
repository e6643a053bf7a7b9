// Says what a Replica requires of a model and of its score. rota::Model meets these requirements. A
// class of your own may meet them too, with batches and labels of any type.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <rota/cuda_stream.h>
#include <rota/device_span.h>
#include <rota/memory_kind.h>
#include <rota/model.h>
#include <rota/values.h>

namespace rota {

// A score consists of sums over samples, and the number of those samples. The first sum is the loss
// that training minimizes: training ends with an error if this loss is not finite. rota::Score is
// an example.
template <class S>
concept SummedScore = std::default_initializable<S> && requires(const S& score) {
  { score.samples } -> std::convertible_to<std::size_t>;
  { std::tuple_size<decltype(score.sums())>::value } -> std::convertible_to<std::size_t>;
  { S::from_sums(score.sums(), std::size_t{}) } -> std::same_as<S>;
};

template <SummedScore S>
inline constexpr std::size_t kSumCount = std::tuple_size_v<decltype(std::declval<S>().sums())>;

template <SummedScore S>
S added(const S& score, const S& more) {
  auto sums = score.sums();
  const auto more_sums = more.sums();
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more_sums[i];
  return S::from_sums(sums, score.samples + more.samples);
}

// <rota/model.h> says what each call must do, at the functions of these names. A model is moved
// only before bind(). `M::Element` is float or double. A default-constructed BatchType is an empty
// batch.
template <class M>
concept Trainable = OneOf<typename M::Element, float, double> && std::movable<M> &&
    std::default_initializable<typename M::BatchType> && SummedScore<typename M::ScoreType> &&
    requires(M model, const M& same, const typename M::BatchType& batch,
             std::span<typename M::Element> memory,
             const std::function<void(std::size_t)>& gradient_ready) {
  { same.parameters() } -> std::convertible_to<std::span<const ParameterInfo>>;
  model.bind(std::size_t{}, memory, memory);
  model.initialize(std::uint64_t{});
  { model.forward(batch) } -> std::same_as<typename M::ScoreType>;
  model.backward(gradient_ready, Gradients::kAdd);
  { model.evaluate(batch) } -> std::same_as<typename M::ScoreType>;
};

// Returns what the model says of itself by a function `settings`, as rota::Model has it: what it
// computes with besides its parameters, such as the rate of a dropout. Ranks compare this text, and
// checkpoints keep it. Returns an empty text if the model has no such function.
template <Trainable M>
std::string settings_of(const M& model) {
  if constexpr (requires {
                  { model.settings() } -> std::convertible_to<std::string>;
                }) {
    return model.settings();
  }
  return {};
}

// A model that may compute on a device, as rota::Model may. If bind() also takes an event, as that
// of rota::Model does, the gradient of the last parameter must be final first, and the gradient of
// the first parameter last.
template <class M>
concept DeviceTrainable = Trainable<M> &&
    requires(M model, const M& same, DeviceSpan<typename M::Element> memory) {
  { same.memory() } -> std::same_as<MemoryKind>;
  { same.stream() } -> std::same_as<cuda::On>;
  model.bind(std::size_t{}, memory, memory);
  { model.late_score() } -> std::same_as<typename M::ScoreType>;
};

// Returns the stream of a model on a device; nothing if the model computes on the host.
template <Trainable M>
std::optional<cuda::On> device_stream_of(const M& model) {
  if constexpr (DeviceTrainable<M>) {
    if (!model.memory().is_host()) return model.stream();
  }
  return std::nullopt;
}

}  // namespace rota
