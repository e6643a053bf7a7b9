// Trains on the ranks. A process with the role of an evaluator scores each checkpoint meanwhile.
#include <rota/end_signal.h>
#include <rota/evaluator.h>
#include <rota/role.h>
#include <rota/trainer.h>

#include <cstdio>

// Images with 2 × 2 pixels. In class 0 the upper row is brighter, in class 1 the lower row.
rota::Dataset draw_images(std::uint8_t count) {
  rota::Dataset data{.shape = {2, 2, 1}, .classes = 2};
  for (std::uint8_t i = 0; i < count; ++i) {
    const bool lower = i % 2 == 1;
    const std::uint8_t bright = 150 + i;
    for (const bool is_lower : {false, false, true, true}) {
      data.pixels.push_back(is_lower == lower ? bright : i);
    }
    data.labels.push_back(lower);
  }
  return data;
}

rota::Model<float> model() { return {{2, 2, 1}, {rota::dense(8), rota::relu(), rota::dense(2)}}; }

void train() {
  rota::Communicator ranks;
  const rota::Dataset data = draw_images(100);
  rota::TrainerOptions options;
  options.epochs = 20;
  options.batch_size = 10;
  options.session.checkpoints.folder = "run";
  rota::Trainer<float>(ranks, model(), data, data, options).run();
}

void print(const rota::CheckpointScore& score) {
  std::printf("step %d: %zu of %zu\n", static_cast<int>(score.step), score.score.correct,
              score.score.samples);
}

void evaluate() {
  const rota::EndSignal signal;
  const rota::Dataset data = draw_images(20);
  rota::Evaluator<float> evaluator(model(), data, {.folder = "run", .logs = "logs"});
  evaluator.run(print);
}

int main() {
  if (rota::role() == rota::Role::kEvaluator) {
    evaluate();
  } else {
    train();
  }
}
