// Finds rank 0 through the store of the launcher that has started the ranks. The ranks need no
// address and no key from a person: the store brings both.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rota/options.h>

#include "auth/key.h"
#include "base/port_range.h"
#include "base/time.h"
#include "os/fd.h"
#include "stores/store.h"

namespace rota {

struct FoundRankZero {
  auth::Key key;                    // Of the job.
  std::vector<std::string> places;  // Where to try to reach rank 0; empty on rank 0.
  os::Fd listener;                  // Rank 0 listens here; empty on other ranks.
};

// Returns the key that a rank derives from JobByHand::key and the job's id. In a job without a
// shared key, the key is not a secret: every process on this host may know it.
auth::Key own_key(const JobByHand& job);

// Returns whether JobByHand::meeting names a store, not an address.
bool is_store(std::string_view meeting) noexcept;

// Returns whether rank 0 waits at a local name, which only processes of its machine and of its
// network namespace reach. `job` has JobByHand::meeting.
bool meets_at_local_name(const JobByHand& job);

// Returns the file name of the first MPI library among `paths`, such as "libmpich.so.12". Returns
// an empty text if there is none.
std::string mpi_library_among(const std::vector<std::string>& paths);

// Opens the store that `job.meeting` names. Throws Error kInvalidArgument if the server of the
// store and `job` give other numbers, if the name makes no sense, or if MPI, which this process has
// loaded, needs the server for itself; kSystem if the store is not there.
std::unique_ptr<stores::Store> open_store(const JobByHand& job, base::TimePoint deadline);

// All ranks must call it. Rank 0 listens at a local name if all ranks are on one machine and
// JobByHand::key is empty; otherwise at a port of `ports`, or at any port if there is no range.
// Throws the Errors of stores::Store; kPeerLost if rank 0 could not listen; kMismatch if only some
// ranks have a key file.
FoundRankZero find_rank_zero(const JobByHand& job, stores::Store& store,
                             const std::optional<base::PortRange>& ports, base::TimePoint deadline);

}  // namespace rota
