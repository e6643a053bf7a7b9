// Trains on all ranks. Rank 0 writes curves for TensorBoard, and publishes the model.
#include <rota/publish.h>
#include <rota/summaries.h>
#include <rota/trainer.h>

#include <cstdio>
#include <utility>

class Curves : public rota::TrainingHook {
 public:
  explicit Curves(rota::SummaryWriter& writer) : writer_(writer) {}

  void on_step(const rota::StepReport& report) override {
    ++step_;
    const auto samples = static_cast<double>(report.score.samples);
    writer_.scalar("loss/train", report.score.loss / samples, step_);
  }
  void on_epoch(const rota::EpochReport& report) override {
    const auto samples = static_cast<double>(report.test.samples);
    writer_.scalar("accuracy/test", static_cast<double>(report.test.correct) / samples, step_);
  }

 private:
  rota::SummaryWriter& writer_;
  std::int64_t step_ = 0;  // Since the start of training.
};

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
  options.epochs = 3;
  options.batch_size = 10;
  rota::Trainer<float> trainer(ranks, std::move(model), data, data, options);
  if (ranks.rank() > 0) {
    trainer.run();
    return 0;
  }
  rota::SummaryWriter writer("logs/first");
  Curves curves(writer);
  trainer.add_hook(curves);
  writer.hyperparameters({{"batch", 10}, {"units", 8}}, {"accuracy/test"}, 1);
  writer.graph(onnx_graph(trainer.replica()), 1);
  const rota::EndReport end = trainer.run();
  writer.close();
  const auto published =
      rota::publish("models", trainer.replica(), {.takes_bytes = true, .step = end.steps});
  std::printf("%zu steps, published %s\n", end.steps, published.path.c_str());
}
