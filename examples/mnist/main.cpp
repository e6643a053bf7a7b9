// Trains a classifier of handwritten digits: `mnist` alone, or `rotarun -np 4 mnist` on four ranks.
// With --evaluate, it evaluates the checkpoints of another mnist that trains. With --predict, it
// says which digits images show.
#include <rota/devices.h>
#include <rota/end_signal.h>
#include <rota/idx.h>
#include <rota/memory_kind.h>
#include <rota/progress.h>
#include <rota/publish.h>
#include <rota/role.h>
#include <rota/source.h>
#include <rota/strategy.h>
#include <rota/summaries_hook.h>
#include <rota/trainer.h>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "evaluate.h"
#include "models.h"
#include "predict.h"
#include "sets.h"
#include "settings.h"

namespace {

// 65, 66, 69 and 73 are those of sysexits.h. 143 is that of a process that SIGTERM has ended.
enum ExitCode {
  kSuccess = 0,
  kFailed = 1,
  kUsage = 2,
  kDamaged = 65,
  kMissing = 66,  // Or it may be there, and the system cannot read it.
  kNoDevice = 69,
  kCannotWrite = 73,
  kTerminated = 143,
};

int complain(const std::exception& error, ExitCode code) {
  std::cerr << "mnist: " << error.what() << std::endl;
  return code;
}

ExitCode code_of(const rota::Error& error) {
  if (dynamic_cast<const rota::UnreadableFile*>(&error) != nullptr) return kMissing;
  switch (error.code()) {
    case rota::ErrorCode::kInvalidArgument:
      return kUsage;
    case rota::ErrorCode::kBadData:
      return kDamaged;
    case rota::ErrorCode::kNotFound:
      return kMissing;
    case rota::ErrorCode::kCannotWrite:
      return kCannotWrite;
    default:
      return kFailed;
  }
}

// Returns how many GPUs there are to train on; 0 without --device cuda. Throws rota::Error if there
// are none.
std::size_t count_devices(const Settings& settings) {
  return settings.device == "cuda" ? rota::open_devices() : 0;
}

// Returns where a rank trains. The ranks of a host share its GPUs if they are more.
rota::MemoryKind place_of(const rota::Communicator& communicator, std::size_t device_count) {
  if (device_count == 0) return {};
  const std::size_t local = communicator.rank_table().rows[communicator.rank()].local_rank;
  return rota::MemoryKind::of_device(static_cast<std::uint8_t>(local % device_count));
}

// Sees which run this is, and whether this start has taken a step. A run that had ended before
// takes no further step when it is started again.
class RunSeen : public rota::TrainingHook {
 public:
  void on_begin(const rota::BeginReport& report) override { run_ = report.run; }
  void on_step(const rota::StepReport&) override { took_step_ = true; }
  const std::string& run() const noexcept { return run_; }
  bool took_step() const noexcept { return took_step_; }

 private:
  std::string run_;  // Empty without checkpoints.
  bool took_step_ = false;
};

// Makes the folder. Called before training, so that an error about the folder does not come only
// after it.
void make_export_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw rota::Error(rota::ErrorCode::kCannotWrite, "--export " + folder.string() +
                                                       ": cannot be created: " + error.message() +
                                                       "; choose another folder");
}

// Publishes the model, unless the run has published this model before and has taken no step since.
rota::Published publish_once(const Settings& settings, const rota::Replica<float>& replica,
                             const Sets& sets, const RunSeen& seen, std::uint64_t step) {
  const rota::OnnxOptions options{
      .takes_bytes = true,
      .step = step,
      .run = seen.run(),
      .data_digest = rota::samples_of(sets.train, replica.model(), 1, "training").digest};
  if (!seen.took_step()) {
    const auto found = rota::find_published(settings.exports, onnx_graph(replica, options));
    if (found) return *found;
  }
  return rota::publish(settings.exports, replica, options);
}

// Trains one replica. `sets` are shared with the replicas of other threads, if there are any.
void train(rota::Communicator& communicator, const Settings& settings, const Sets& sets,
           std::size_t device_count) {
  const bool is_chief = communicator.rank() == 0;
  const bool exports = is_chief && !settings.exports.empty();
  if (exports) make_export_folder(settings.exports);
  const rota::Dataset& images = sets.train.dataset();
  rota::Model<float> model(images.shape, layers_of(settings.model, images.classes),
                           place_of(communicator, device_count));
  rota::Trainer<float> trainer(communicator, std::move(model), sets.train, sets.test,
                               settings.trainer);
  if (sets.validation) trainer.set_validation(*sets.validation);
  rota::Progress progress(std::cout);
  rota::JsonLines json_lines(std::cout);
  if (is_chief) {
    if (!settings.json) std::cout << rota::to_text(communicator.rank_table()) << std::flush;
    trainer.add_hook(settings.json ? static_cast<rota::TrainingHook&>(json_lines) : progress);
  }
  std::optional<rota::Summaries> summaries;
  if (!settings.logs.empty()) {
    summaries.emplace(settings.logs, rota::SummariesOptions{.histogram_steps = 100});
    summaries->watch(trainer.replica());
    trainer.add_chief_hook(*summaries);
  }
  RunSeen seen;
  trainer.add_chief_hook(seen);
  const rota::EndReport end = trainer.run();
  if (exports && !end.stopped) {
    const auto published = publish_once(settings, trainer.replica(), sets, seen, end.steps);
    std::cout << (settings.json ? to_json(published) : to_text(published)) << std::endl;
  }
  if (!std::cout) throw std::runtime_error("standard output cannot be written");
}

void require_evaluation_by_evaluators(const Settings& settings) {
  const bool trains = !settings.evaluates && settings.predicted.empty();
  if (!trains || rota::role() != rota::Role::kEvaluator) return;
  throw rota::Error(rota::ErrorCode::kInvalidArgument,
                    "this process is an evaluator (--role evaluator of rotarun, or TF_CONFIG), and "
                    "would train alone: add --evaluate");
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  try {
    settings = parse_settings(argc, argv);
    require_evaluation_by_evaluators(settings);
  } catch (const std::exception& error) {
    return complain(error, kUsage);
  }
  std::size_t device_count = 0;
  try {
    device_count = count_devices(settings);  // Before the images are read, which takes time.
  } catch (const rota::Error& error) {
    return complain(error, kNoDevice);
  }
  std::optional<rota::EndSignal> end_signal;  // SIGTERM may come while the images are read.
  const bool scores_one = !settings.trainer.session.checkpoints.from.empty();
  if (settings.evaluates && !scores_one) end_signal.emplace();
  rota::TrainAndTest data;
  try {
    data = rota::read_idx_folder(settings.data);
  } catch (const rota::Error& error) {
    return complain(error, code_of(error));
  }
  try {
    if (!settings.predicted.empty()) {
      predict(settings, data.train);
      return kSuccess;
    }
    const Sets sets = sets_of(data, settings);
    if (settings.evaluates) return evaluate(settings, sets) ? kSuccess : kTerminated;
    auto options = rota::CommunicatorOptions::from_environment();
    options.plan = settings.plan;
    options.codec = settings.codec;
    rota::MirroredStrategy strategy({.replicas = settings.replicas, .communicator = options});
    strategy.run(
        [&](rota::Communicator& replica) { train(replica, settings, sets, device_count); });
  } catch (const rota::Error& error) {
    return complain(error, code_of(error));
  } catch (const std::exception& error) {
    return complain(error, kFailed);
  }
  return kSuccess;
}
