// Trains with callbacks, as model.fit() does. If it is started again, it resumes.
#include <rota/hooks.h>
#include <rota/strategy.h>
#include <rota/summaries_hook.h>
#include <rota/trainer.h>

#include <cstdio>
#include <utility>

class Report : public rota::TrainingHook {  // keras.callbacks.Callback, SessionRunHook
 public:
  void on_begin(const rota::BeginReport& report) override {  // on_train_begin()
    if (!report.fresh) std::printf("resumed from %s\n", report.path.c_str());
  }
  void on_epoch(const rota::EpochReport& report) override {  // on_epoch_end()
    std::printf("epoch %zu: %zu of %zu right\n", report.epoch, report.test.correct,
                report.test.samples);
  }
  void on_end(const rota::EndReport& report) override {  // on_train_end()
    std::printf("%zu steps: %s\n", report.steps, report.stop_reason.c_str());
  }
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

void train(rota::Communicator& ranks) {
  const rota::Dataset data = draw_images();
  rota::TrainerOptions options;
  options.epochs = 100;
  options.batch_size = 10;                              // Of one rank, not of all.
  options.optimizer = rota::Sgd{.learning_rate = 0.1};  // model.compile(optimizer)
  options.session.checkpoints.folder = "run";           // BackupAndRestore("run"), checkpoint_dir
  rota::Model<float> model(data.shape, {rota::dense(8), rota::relu(), rota::dense(2)});
  rota::Trainer<float> trainer(ranks, std::move(model), data, data, options);

  const rota::Watched accuracy = rota::Watched::accuracy();  // monitor="val_accuracy"
  rota::EarlyStopping early({.patience = 3, .watched = accuracy});
  rota::KeepBest best({.watched = accuracy});  // ModelCheckpoint(save_best_only=True)
  rota::Summaries curves("logs");              // TensorBoard("logs"), SummarySaverHook
  Report report;
  trainer.add_hook(early);  // callbacks=[…], hooks=[…]
  trainer.add_hook(best);
  trainer.add_chief_hook(curves);  // chief_only_hooks=[…]
  trainer.add_chief_hook(report);
  trainer.run();  // model.fit()
}

int main() {
  rota::MultiWorkerStrategy strategy;  // MultiWorkerMirroredStrategy()
  strategy.run(train);                 // with strategy.scope():
}
