// Trains on images in memory. Some images are held back, to see how good the model is on others.
#include <rota/split.h>
#include <rota/trainer.h>

#include <cstdio>
#include <utility>

// Images with 2 × 2 pixels. In class 0 the upper row is brighter, in class 1 the lower row.
rota::Dataset draw_images() {
  rota::Dataset data{.shape = {2, 2, 1}, .classes = 2};
  for (std::uint8_t i = 0; i < 100; ++i) {
    const bool lower = i % 2 == 1;
    const std::uint8_t bright = 150 + i;
    for (const bool is_lower : {false, false, true, true}) {
      data.pixels.push_back(is_lower == lower ? bright : i);
    }
    data.labels.push_back(lower);
  }
  return data;
}

int main() {
  rota::Communicator ranks;
  const rota::Dataset data = draw_images();
  const rota::DatasetSplit parts = rota::split(data, {.validation = 0.2, .stratified = true});
  rota::Model<float> model(data.shape, {rota::dense(8), rota::relu(), rota::dense(2)});
  rota::TrainerOptions options;
  options.epochs = 20;
  options.batch_size = 10;
  rota::Trainer<float> trainer(ranks, std::move(model), parts.train, parts.validation, options);
  const rota::EndReport end = trainer.run();
  if (ranks.rank() > 0) return 0;
  std::printf("trained on %zu images; of %zu others, %zu are correct\n", parts.train.count(),
              end.test.samples, end.test.correct);
}
