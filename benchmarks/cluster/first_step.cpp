// Trains like the example, and prints a line after the first step. start.sh waits for this line.
#include <rota/communicator.h>
#include <rota/idx.h>
#include <rota/trainer.h>

#include <iostream>
#include <utility>

#include "examples/mnist/data_folder.h"
#include "examples/mnist/models.h"

namespace {

class FirstStep final : public rota::TrainingHook {
 public:
  void on_step(const rota::StepReport& /*report*/) override {
    if (!std::exchange(is_said_, true)) std::cout << "first step" << std::endl;
  }

 private:
  bool is_said_ = false;
};

}  // namespace

int main() {
  const rota::TrainAndTest data = rota::read_idx_folder(data_folder());
  rota::Communicator communicator;
  rota::Model<float> model(data.train.shape, layers_of("mlp", data.train.classes));
  rota::Trainer<float> trainer(communicator, std::move(model), data.train, data.test, {});
  FirstStep first_step;
  if (communicator.rank() == 0) trainer.add_hook(first_step);
  trainer.run();
}
