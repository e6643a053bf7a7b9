// A child of each rank makes samples, and the rank adds them up over all ranks.
#include <rota/communicator.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

// Runs in the child, which has a copy of everything, and leaves the copies of rota's objects alone.
[[noreturn]] void make_samples(int to) {
  bool is_written = true;
  for (float sample = 1; sample <= 3; ++sample) {
    is_written = is_written && write(to, &sample, sizeof sample) == sizeof sample;
  }
  _exit(is_written ? 0 : 1);  // Not exit(): it would print what the rank has not printed yet.
}

int main() {
  rota::Communicator ranks;
  std::array<int, 2> ends{};  // Of a pipe from the child to the rank.
  if (pipe(ends.data()) != 0) return 1;
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) make_samples(ends[1]);
  close(ends[1]);

  std::array<float, 1> sum{};
  for (float sample = 0; read(ends[0], &sample, sizeof sample) == sizeof sample;) sum[0] += sample;
  waitpid(child, nullptr, 0);
  ranks.all_reduce(sum, rota::ReduceOp::kSum);
  if (ranks.rank() == 0) std::printf("sum of the samples of all ranks: %g\n", sum[0]);
}
