// One rank has another model than the others. Every rank must get an error that shows both sides.
#include <rota/replica.h>

#include <cstdio>
#include <string_view>

#include <rota/error.h>

int main() {
  using namespace rota;
  Communicator communicator;
  const std::size_t units = communicator.rank() == 2 ? 500 : 512;
  try {
    Replica<float> replica(communicator,
                           Model<float>({28, 28, 1}, {dense(units), relu(), dense(10)}), {});
  } catch (const Error& error) {
    const std::string_view what = error.what();
    const bool shows_both =
        what.find(
            "rank 2 has 0.dense.weights [784, 500], "
            "but rank 0 has 0.dense.weights [784, 512]") != std::string_view::npos;
    if (error.code() == ErrorCode::kMismatch && error.blamed_rank() == 2 && shows_both) return 0;
    std::fprintf(stderr, "another error than expected: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "rank %zu: models that differ were accepted\n", communicator.rank());
  return 1;
}
