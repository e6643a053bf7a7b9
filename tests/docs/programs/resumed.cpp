// A training loop that goes on after the step at which an earlier run has ended.
#include <rota/session.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  const auto steps = std::strtoull(argc > 1 ? argv[1] : "1000", nullptr, 10);
  rota::Communicator ranks;
  std::vector<float> weights(1000, 0.0F);
  rota::Session session(ranks, {.checkpoints = {.folder = "run"}});
  session.track("weights", weights);
  const rota::Restored restored = session.restore();
  if (session.is_chief() && !restored.is_fresh) {
    std::printf("goes on from %s\n", restored.path.c_str());
  }
  while (session.step() < steps && session.begin_step()) {
    std::vector<float> gradients(weights.size(), static_cast<float>(session.step() + 1));
    ranks.all_reduce(gradients, rota::ReduceOp::kMean);
    session.before_update();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += gradients[i];
    session.end_step();
  }
  session.end();
  if (session.is_chief()) std::printf("weight %g\n", weights[0]);
}
