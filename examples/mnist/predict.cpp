// Reads images and the parameters of a model, and prints what the model predicts.
#include "predict.h"

#include <rota/error.h>
#include <rota/evaluator.h>
#include <rota/idx.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models.h"

namespace {

constexpr std::size_t kTogether = 100;

std::string to_text(float number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

// Throws rota::Error if the outputs are not finite: then none of them is the greatest.
void print(std::size_t image, std::span<const float> logits, bool json) {
  if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); })) {
    throw rota::Error(rota::ErrorCode::kNotFinite,
                      "the outputs of the model for image " + std::to_string(image) +
                          " are not finite: look at the parameters of --from");
  }
  const auto best = std::ranges::max_element(logits) - logits.begin();
  if (!json) {
    std::cout << "image " << image << ": " << best << '\n';
    return;
  }
  std::cout << R"({"event":"prediction","image":)" << image << R"(,"class":)" << best
            << R"(,"logits":[)";
  for (std::size_t i = 0; i < logits.size(); ++i) {
    std::cout << (i == 0 ? "" : ",") << to_text(logits[i]);
  }
  std::cout << "]}\n";
}

}  // namespace

void predict(const Settings& settings, const rota::Dataset& trained) {
  const rota::Dataset images = rota::read_idx_images(settings.predicted, trained.classes);
  rota::Model<float> model(trained.shape, layers_of(settings.model, trained.classes));
  rota::Evaluator<float> evaluator(std::move(model), images, {.batch_size = kTogether});
  evaluator.load(settings.trainer.session.checkpoints.from);
  rota::BatchBuffer<float> buffer(images, kTogether);
  for (std::size_t first = 0; first < images.count(); first += kTogether) {
    std::vector<std::uint64_t> samples(std::min(kTogether, images.count() - first));
    std::iota(samples.begin(), samples.end(), std::uint64_t{first});
    const std::vector<float> logits = evaluator.model().predict(buffer.gather(samples));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto of_image = std::span(logits).subspan(i * images.classes, images.classes);
      print(first + i, of_image, settings.json);
    }
  }
  std::cout << std::flush;
  if (!std::cout) throw std::runtime_error("standard output cannot be written");
}
