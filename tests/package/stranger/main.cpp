// This is a stranger's trainer. It fits a line to points that are spread over the ranks. The
// gradients are worked out by hand, and rota sums them.
#include <rota/communicator.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPointCount = 8;  // Points of one rank.
constexpr double kSlope = 3;
constexpr double kIntercept = -1;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void sum_over_ranks(rota::Communicator& comm) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(comm.rank() + i % 7);
  }
  comm.all_reduce(values, rota::ReduceOp::kSum);
  const std::size_t world_size = comm.world_size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t sum = world_size * (world_size - 1) / 2 + world_size * (i % 7);
    require(values[i] == static_cast<float>(sum), "the sum is wrong");
  }
}

// Catches an error by its type: a program outside the library must be able to do this with rota's
// exception.
void call_nonsense(rota::Communicator& comm) {
  std::vector<float> values(1);
  try {
    comm.broadcast(values, comm.world_size());
  } catch (const rota::Error& error) {
    require(error.code() == rota::ErrorCode::kInvalidArgument, "another error was due");
    return;
  }
  require(false, "a root outside of the world was taken");
}

// Returns the mean loss over the points of all ranks before the step. Moves `weights` downhill.
double step(rota::Communicator& comm, std::vector<double>& weights) {
  std::vector<double> sums(4);  // Two gradients, the loss, the number of points.
  for (std::size_t i = 0; i < kPointCount; ++i) {
    const double x = static_cast<double>(comm.rank() * kPointCount + i) / 8 - 1;
    const double error = weights[0] * x + weights[1] - (kSlope * x + kIntercept);
    sums[0] += error * x;
    sums[1] += error;
    sums[2] += error * error / 2;
    sums[3] += 1;
  }
  comm.all_reduce(sums, rota::ReduceOp::kSum);
  weights[0] -= 0.2 * sums[0] / sums[3];
  weights[1] -= 0.2 * sums[1] / sums[3];
  return sums[2] / sums[3];
}

void train(rota::Communicator& comm) {
  std::vector<double> weights(2);
  const double first_loss = step(comm, weights);
  double loss = first_loss;
  for (int i = 0; i < 100; ++i) loss = step(comm, weights);
  require(loss < first_loss / 100, "the loss has not fallen");

  std::vector<double> weights_of_first = weights;
  comm.broadcast(weights_of_first, 0);
  require(weights_of_first == weights, "ranks have different weights");
  if (comm.rank() == 0) {
    std::printf("%zu ranks: loss %.3g, then %.3g\n", comm.world_size(), first_loss, loss);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    rota::Communicator comm;
    require(argc < 2 || comm.world_size() == std::stoul(argv[1]), "this is another world");
    sum_over_ranks(comm);
    train(comm);
    call_nonsense(comm);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trainer: %s\n", error.what());
    return 1;
  }
}
