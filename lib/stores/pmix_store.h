// The store of a launcher that has a PMIx server: Open MPI's mpirun, prun, srun --mpi=pmix.
#pragma once
#include <chrono>
#include <cstddef>

#include "stores/pmix_calls.h"
#include "stores/store.h"

namespace rota::stores {

// How long the server of this host may take to answer about this host.
inline constexpr std::chrono::seconds kServerPatience{10};

// Returns whether libpmix is installed here.
bool has_pmix_library() noexcept;

class PmixStore final : public Store {
 public:
  // Opens libpmix and connects to the server that the variables PMIX_* name. Throws Error kSystem
  // if the library is missing, or if the server refuses; kTimeout if the server does not answer
  // until `deadline`.
  explicit PmixStore(base::TimePoint deadline);
  ~PmixStore() override;
  PmixStore(const PmixStore&) = delete;
  PmixStore& operator=(const PmixStore&) = delete;

  std::size_t rank() const noexcept { return own_.rank; }

  // Return what the server says about the job. They throw Error kSystem, kTimeout.
  std::size_t world_size() const;
  std::size_t local_world_size() const;

  std::string share(const std::string& word, base::TimePoint deadline) override;

 private:
  pmix::Proc with_rank(pmix::Rank rank) const noexcept;
  std::uint32_t number_of_job(const char* key) const;

  const pmix::Calls& calls_;
  pmix::Proc own_{};
};

}  // namespace rota::stores
