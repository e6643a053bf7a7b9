// A library as rota has one for each MPI, but of a release with another table of MPI functions.
#include <rota/mpi_calls.h>

extern "C" __attribute__((visibility("default"))) const rota::mpi::Calls*
rota_calls_of_mpi() noexcept {
  static constexpr rota::mpi::Calls kCalls{.version = 7, .name = "an MPI of tests"};
  return &kCalls;
}
