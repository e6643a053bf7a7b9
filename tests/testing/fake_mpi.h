// An MPI whose ranks are threads of a test: the table of functions that rota calls, without any
// MPI. A seed decides how late messages and collectives end. A message of more than 4 KiB is read
// from the sender's memory when the receiver tests its receive, as in a real MPI.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <rota/mpi_calls.h>

namespace rota::testing {

// What the functions without a communicator report, for all ranks of the process.
struct FakeMpiState {
  bool is_initialized = true;
  bool is_finalized = false;
  mpi::ThreadLevel level = mpi::ThreadLevel::kMultiple;
  int largest_tag = 32767;  // MPI promises so many.
};
void set_fake_mpi(const FakeMpiState& state);
// Makes the calling thread the one that has initialised MPI, or not.
void be_main_thread(bool is_main);

class FakeMpi {
 public:
  explicit FakeMpi(std::size_t world_size, std::uint64_t seed = 0);
  ~FakeMpi();
  FakeMpi(const FakeMpi&) = delete;
  FakeMpi& operator=(const FakeMpi&) = delete;

  static const mpi::Calls& calls();
  mpi::Handle comm(std::size_t rank) noexcept;  // MPI_COMM_WORLD on rank `rank`.

  // From now on, every call fails that begins or tests an operation.
  void fail();
  // From now on until release(), no message of more than 4 KiB arrives, and no collective ends.
  void hold();
  void release();

  // Returns whether a message of more than 4 KiB from this rank has not been read.
  bool has_unread_mail_of(std::size_t rank) const;
  std::size_t open_requests() const;  // Operations that no test() has reported as ended.
  std::size_t open_comms() const;     // Duplicates that are not freed.

  struct Job;

 private:
  std::unique_ptr<Job> job_;
};

}  // namespace rota::testing
