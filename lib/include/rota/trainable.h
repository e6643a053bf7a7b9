// What a Replica asks of a model, and of its score. rota::Model is one such model; a class of a
// program's own is another, with batches and labels of any type.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

#include <rota/model.h>
#include <rota/values.h>

namespace rota {

// A score is some sums over samples, and how many samples those are. The first sum is the loss that
// is trained on: training ends where it is not finite. rota::Score shows what to write.
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

// What each call has to do is told in <rota/model.h>, at the functions of these names. A model is
// moved once, before bind(). `M::Element` is float or double. A BatchType that was made without
// arguments is an empty batch.
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

}  // namespace rota
