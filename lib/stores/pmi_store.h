// The store of a launcher that speaks PMI-1 with its ranks, over a descriptor that each rank
// inherits: MPICH's mpiexec, and srun --mpi=pmi2.
#pragma once
#include "os/fd.h"
#include "stores/store.h"

namespace rota::stores {

class PmiStore final : public Store {
 public:
  // `fd` is the number in PMI_FD. The store closes the descriptor: after share(), the launcher
  // answers no more. Throws Error kInvalidArgument if no socket is open there.
  PmiStore(int fd, bool is_rank_0);

  std::string share(const std::string& word, base::TimePoint deadline) override;

 private:
  os::Fd socket_;
  bool is_rank_0_;
};

}  // namespace rota::stores
