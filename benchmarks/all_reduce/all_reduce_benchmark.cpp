// Measures rota's all-reduce, as the ranks that rotarun started.
#include "all_reduce/all_reduce_benchmark.h"

#include <algorithm>
#include <iostream>

#include <rota/communicator.h>

#include "all_reduce/method.h"
#include "all_reduce/method_options.h"

namespace rota::bench {
namespace {

class RotaGroup final : public Group {
 public:
  explicit RotaGroup(const CommunicatorOptions& options)
      : plan_(options.plan), communicator_(options) {}

  std::string name() const override {
    return "rota " + communicator_.rank_table().transport + (plan_ == "ring" ? "" : " " + plan_);
  }
  std::size_t rank() const override { return communicator_.rank(); }
  std::size_t world_size() const override { return communicator_.world_size(); }

  std::span<float> allocate(std::size_t count) override {
    memory_ = communicator_.allocate(count * sizeof(float));
    return {reinterpret_cast<float*>(memory_.bytes().data()), count};
  }
  void all_reduce(std::span<float> values) override {
    communicator_.all_reduce(values, ReduceOp::kSum);
  }
  void barrier() override { communicator_.barrier(); }

  void take_largest(std::span<double> values) override {
    std::vector<double> all(world_size() * values.size());
    std::ranges::copy(values, all.begin() + static_cast<std::ptrdiff_t>(rank() * values.size()));
    communicator_.all_gather(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      double& largest = values[i % values.size()];
      largest = std::max(largest, all[i]);
    }
  }

 private:
  std::string plan_;
  Communicator communicator_;
  Block memory_;
};

}  // namespace

int run_all_reduce_benchmark(int argument_count, char** arguments) {
  auto options = method_options("rotarun -np RANKS rota-bench all-reduce");
  options.add_options()("plan", "auto, ring, direct, halving-doubling, tree, two-level or star",
                        cxxopts::value<std::string>()->default_value("ring"));
  const auto given = options.parse(argument_count, arguments);
  if (given.count("help") != 0) {
    std::cout << options.help() << '\n';
    return 0;
  }
  auto communicator_options = CommunicatorOptions::from_environment();
  communicator_options.plan = given["plan"].as<std::string>();
  RotaGroup group(communicator_options);
  measure(group, method_from(given));
  return 0;
}

}  // namespace rota::bench
