// Trains on a GPU if this process sees one, and otherwise on the CPU.
#include <rota/communicator.h>
#include <rota/devices.h>
#include <rota/trainer.h>

#include <cstdio>
#include <utility>

rota::MemoryKind find_place() {
  try {
    rota::open_devices();
    return rota::MemoryKind::of_device(0);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "trains on the CPU: %s\n", error.what());
    return {};
  }
}

class Report : public rota::TrainingHook {
 public:
  void on_epoch(const rota::EpochReport& report) override {
    if (report.epoch % 10 > 0) return;
    std::printf("epoch %zu: %zu of %zu right\n", report.epoch, report.test.correct,
                report.test.samples);
  }
};

// Images with 2 × 2 pixels. In class 0 the upper row is brighter, in class 1 the lower row.
rota::Dataset draw_images() {
  rota::Dataset data{.shape = {2, 2, 1}, .classes = 2};
  for (std::uint8_t i = 0; i < 100; ++i) {
    const bool lower = i % 2 == 1;
    for (const bool is_lower : {false, false, true, true}) {
      data.pixels.push_back(is_lower == lower ? 250 : i);
    }
    data.labels.push_back(lower);
  }
  return data;
}

void train(rota::Communicator& ranks, rota::MemoryKind place) {
  const rota::Dataset data = draw_images();
  rota::Model<float> model(data.shape, {rota::dense(8), rota::relu(), rota::dense(2)}, place);
  rota::TrainerOptions options;
  options.epochs = 20;
  options.batch_size = 10;  // Of one rank, not of all.
  rota::Trainer<float> trainer(ranks, std::move(model), data, data, options);
  Report report;
  trainer.add_chief_hook(report);
  trainer.run();
}

int main() {
  const rota::MemoryKind place = find_place();  // Before there is a communicator.
  rota::Communicator ranks;
  train(ranks, place);
}
