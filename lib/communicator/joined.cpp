// The communicators with which this process has joined jobs, as weak pointers: the owner of a
// Communicator may destroy it at any time.
#include "communicator/joined.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace rota {
namespace {

struct Held {
  std::string way;
  std::weak_ptr<CommunicatorImpl> communicator;
};

std::mutex held_mutex;  // Guards the list.
std::vector<Held> all_held;

// Returns a string that identifies one rank of one job.
std::string way_into_job(const CommunicatorOptions& options) {
  if (!options.by_hand) return std::to_string(options.rendezvous_fd.value_or(-1));
  const JobByHand& job = *options.by_hand;
  std::string way =
      std::to_string(job.table.epoch) + " " + std::to_string(job.rank) + " " + job.meeting;
  for (const RankRow& row : job.table.rows) way += " " + row.address;
  return way;
}

}  // namespace

void note_joined(const CommunicatorOptions& options,
                 const std::shared_ptr<CommunicatorImpl>& communicator) {
  const std::scoped_lock lock(held_mutex);
  std::erase_if(all_held, [](const Held& held) { return held.communicator.expired(); });
  all_held.push_back({way_into_job(options), communicator});
}

std::shared_ptr<CommunicatorImpl> find_joined(const CommunicatorOptions& options) {
  const std::scoped_lock lock(held_mutex);
  const std::string way = way_into_job(options);
  for (const Held& held : all_held) {
    if (held.way != way) continue;
    auto communicator = held.communicator.lock();
    // A Request may keep a closed communicator alive. A closed communicator has left the job.
    if (communicator && !communicator->is_closed()) return communicator;
  }
  return nullptr;
}

}  // namespace rota
