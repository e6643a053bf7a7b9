// A program that calls MPI_Finalize before it destroys its communicator: from the beginning of
// MPI_Finalize on, the communicator refuses further calls, and its end does no harm.
// Method: an attribute of MPI_COMM_SELF calls the program within MPI_Finalize. MPI deletes the
// attribute that was set last first, so this one, which is older than rota's, comes after it.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <rota/error.h>

namespace {

std::optional<rota::Communicator> communicator;
bool was_closed_at_the_beginning = false;

bool is_closed() {
  std::vector<float> values(1009, 1);
  try {
    communicator->all_reduce(values, rota::ReduceOp::kSum);
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    const std::string_view text = error.what();
    return text.find("MPI_Finalize was called before this communicator was closed") != text.npos;
  }
  return false;
}

int look_at_the_beginning(MPI_Comm, int, void*, void*) {
  was_closed_at_the_beginning = is_closed();
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, look_at_the_beginning, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  communicator.emplace(rota::mpi::communicator(MPI_COMM_WORLD));
  std::vector<float> values(1009, 1);
  communicator->all_reduce(values, rota::ReduceOp::kSum);
  MPI_Finalize();
  const bool is_right = was_closed_at_the_beginning && is_closed();
  communicator.reset();
  return is_right ? 0 : 1;
}
