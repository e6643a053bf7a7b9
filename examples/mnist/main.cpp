// Trains a classifier of handwritten digits: `mnist` alone, or `rotarun -np 4 mnist` on four ranks.
#include <rota/idx.h>
#include <rota/progress.h>
#include <rota/strategy.h>
#include <rota/trainer.h>

#include <iostream>
#include <utility>

#include "models.h"
#include "settings.h"

namespace {

enum ExitCode { kSuccess = 0, kFailed = 1, kUsage = 2, kDataDamaged = 65, kDataMissing = 66 };

int complain(const std::exception& error, ExitCode code) {
  std::cerr << "mnist: " << error.what() << std::endl;
  return code;
}

// On one replica; `data` is shared with those of the other threads, if there are any.
void train(rota::Communicator& communicator, const Settings& settings,
           const rota::TrainAndTest& data) {
  rota::Model<float> model(data.train.shape, layers_of(settings.model, data.train.classes));
  rota::Trainer<float> trainer(communicator, std::move(model), data.train, data.test,
                               settings.trainer);
  rota::Progress progress(std::cout);
  rota::JsonLines json_lines(std::cout);
  if (communicator.rank() == 0) {
    if (!settings.json) std::cout << rota::to_text(communicator.rank_table()) << std::flush;
    trainer.add_hook(settings.json ? static_cast<rota::TrainingHook&>(json_lines) : progress);
  }
  trainer.run();
  if (!std::cout) throw std::runtime_error("standard output cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  try {
    settings = parse_settings(argc, argv);
  } catch (const UsageError& error) {
    return complain(error, kUsage);
  }
  rota::TrainAndTest data;
  try {
    data = rota::read_idx_folder(settings.data);
  } catch (const rota::Error& error) {
    if (error.code() == rota::ErrorCode::kBadData) return complain(error, kDataDamaged);
    return complain(error, error.code() == rota::ErrorCode::kSystem ? kDataMissing : kFailed);
  }
  try {
    auto options = rota::CommunicatorOptions::from_environment();
    options.plan = settings.plan;
    options.codec = settings.codec;
    rota::MirroredStrategy strategy({.replicas = settings.replicas, .communicator = options});
    strategy.run([&](rota::Communicator& replica) { train(replica, settings, data); });
  } catch (const rota::Error& error) {
    return complain(error, error.code() == rota::ErrorCode::kInvalidArgument ? kUsage : kFailed);
  } catch (const std::exception& error) {
    return complain(error, kFailed);
  }
  return kSuccess;
}
