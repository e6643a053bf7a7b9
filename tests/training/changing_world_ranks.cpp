// A rank of a training run that goes on in worlds of other sizes. It notes which samples it was
// given, and what the codec has lost on all ranks together when the run begins and ends.
// Usage: training_changing_world_ranks FOLDER BATCH_SIZE STEPS
// Trains until so many steps are done since the first start; 0: until the epoch is over.
#include <rota/hooks.h>
#include <rota/trainer.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace rota;
using Samples = std::vector<std::uint64_t>;

struct NoLoss {
  std::size_t samples = 0;
  static std::array<double, 1> sums() { return {0}; }
  static NoLoss from_sums(const std::array<double, 1>&, std::size_t samples) { return {samples}; }
};

// Large enough for a codec. Each sample has other gradients, so that the codec loses something.
class Wide {
 public:
  using Element = float;
  using BatchType = Samples;
  using ScoreType = NoLoss;

  std::span<const ParameterInfo> parameters() const { return parameters_; }
  void bind(std::size_t, std::span<float> values, std::span<float> gradient) {
    values_ = values;
    gradient_ = gradient;
  }
  void initialize(std::uint64_t) { std::fill(values_.begin(), values_.end(), 0.0F); }
  NoLoss forward(const Samples& samples) {
    samples_ = samples;
    return {samples.size()};
  }
  void backward(const std::function<void(std::size_t)>& gradient_ready, Gradients) {
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      gradient_[i] = 0;
      for (const std::uint64_t sample : samples_) {
        gradient_[i] += static_cast<float>((sample * 7919 + i * 31) % 1009) / 1009 - 0.5F;
      }
    }
    if (gradient_ready) gradient_ready(0);
  }
  NoLoss evaluate(const Samples& samples) const { return {samples.size()}; }

 private:
  std::vector<ParameterInfo> parameters_ = {{"wide", {20'000}}};
  std::span<float> values_;
  std::span<float> gradient_;
  Samples samples_;
};

class LostReader final : public StateVisitor {
 public:
  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece&, std::uint64_t&) override {}
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t>, Values values) override {
    if (piece.fit != StateFit::kSummed) return;
    const auto* floats = reinterpret_cast<const float*>(values.data());
    lost.insert(lost.end(), floats, floats + values.count());
  }
  std::vector<double> lost;
};

// Rank 0 writes a line for each element: the sum over all ranks, and that of magnitudes.
class LostWriter : public BasicTrainingHook<NoLoss> {
 public:
  LostWriter(Communicator& communicator, Replica<float, Wide>& replica, std::string path)
      : communicator_(communicator), replica_(replica), path_(std::move(path)) {}
  void on_begin(const BeginReport&) override { write("-begin"); }
  void on_end(const BasicEndReport<NoLoss>&) override { write("-end"); }

 private:
  void write(const char* when) {
    LostReader reader;
    replica_.visit_state(reader);
    std::vector<double> magnitudes = reader.lost;
    for (double& value : magnitudes) value = std::abs(value);
    communicator_.all_reduce(reader.lost, ReduceOp::kSum);
    communicator_.all_reduce(magnitudes, ReduceOp::kSum);
    if (communicator_.rank() > 0) return;
    std::ofstream file(path_ + when);
    file.precision(17);
    for (std::size_t i = 0; i < magnitudes.size(); ++i) {
      file << reader.lost[i] << ' ' << magnitudes[i] << '\n';
    }
  }

  Communicator& communicator_;
  Replica<float, Wide>& replica_;
  std::string path_;
};

void train(const std::filesystem::path& folder, std::size_t batch_size, std::uint64_t until_step) {
  Communicator communicator;
  const std::string world = std::to_string(communicator.world_size());
  const std::string rank = std::to_string(communicator.rank());
  std::ofstream given(folder / ("samples-" + world + "-" + rank));
  const auto gather = [](const SampleRun& run) {
    return Samples(run.samples.begin(), run.samples.end());
  };
  const SampleSource<Samples> train = {1000, "counted", [&](const SampleRun& run) {
                                         for (const auto sample : run.samples) {
                                           given << sample << '\n';
                                         }
                                         return gather(run);
                                       }};
  const SampleSource<Samples> test = {8, "eight", gather};
  TrainerOptions options;
  options.batch_size = batch_size;
  options.buckets.codec = Codec::kInt8;
  options.session.checkpoints.folder = folder / "run";
  Trainer<float, Wide> trainer(communicator, Wide(), train, test, options);
  BasicStopAfter<NoLoss> stop_after({.steps = until_step});
  LostWriter lost_writer(communicator, trainer.replica(), folder / ("lost-" + world));
  trainer.add_hook(stop_after);
  trainer.add_hook(lost_writer);
  const auto end = trainer.run();
  if (communicator.rank() > 0) return;
  std::printf("%s after %zu steps\n", end.stopped ? "stopped" : "done", end.steps);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    train(argv[1], std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
