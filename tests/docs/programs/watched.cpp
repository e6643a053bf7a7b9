// Trains on all ranks. Rank 0 writes the curves of the run for TensorBoard.
#include <rota/summaries_hook.h>
#include <rota/trainer.h>

#include <cstdio>
#include <filesystem>
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
  rota::Model<float> model(data.shape, {rota::dense(8), rota::relu(), rota::dense(2)});
  rota::TrainerOptions options;
  options.epochs = 20;
  options.batch_size = 10;
  options.session.checkpoints.folder = "run";
  rota::Trainer<float> trainer(ranks, std::move(model), data, data, options);
  rota::Summaries summaries("logs/first", {.every_steps = 5, .histogram_steps = 20});
  summaries.watch(trainer.replica());
  trainer.add_chief_hook(summaries);
  const rota::EndReport end = trainer.run();
  if (ranks.rank() > 0) return 0;
  std::printf("%zu steps\n", end.steps);
  for (const char* run : {"logs/first/train", "logs/first/test"}) {
    if (std::filesystem::exists(run)) std::printf("%s\n", run);
  }
}
