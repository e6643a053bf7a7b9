// Sorts the ranks of a world into groups.
#include "checkpoint/writers.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/assert.h"
#include "checkpoint/exchange.h"

namespace rota::checkpoint {

Writers::Writers(std::size_t rank, const std::vector<std::string>& hosts)
    : Writers(rank, hosts, std::vector<std::string>(hosts.size())) {}

Writers::Writers(std::size_t rank, std::vector<std::string> hosts,
                 const std::vector<std::string>& keys)
    : rank_(rank), hosts_(std::move(hosts)) {
  ROTA_ASSERT(rank < keys.size() && keys.size() == hosts_.size());
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto found = std::ranges::find(seen, keys[i]);
    group_of_.push_back(static_cast<std::size_t>(found - seen.begin()));
    if (found == seen.end()) {
      seen.push_back(keys[i]);
      groups_.emplace_back();
    }
    std::vector<std::size_t>& group = groups_[group_of_.back()];
    if (i == rank) index_ = group.size();
    group.push_back(i);
  }
}

std::string Writers::name_of(std::size_t rank) const {
  return "rank " + std::to_string(rank) + " on host " + hosts_[rank];
}

std::string Writers::told_by(std::size_t rank, const std::string& text) const {
  return group_count() == 1 && rank == 0 ? text : name_of(rank) + ": " + text;
}

std::string Writers::what_folders_are_needed() const {
  if (group_count() == 1) {
    return "all hosts need the same folder, for example on a network file system, or set storage "
           "to "
           "'per-host' (kPerHost): then each host keeps a copy in a folder of its own";
  }
  return "each host needs a folder of its own, which all its ranks see; if hosts share the folder, "
         "set storage to 'shared' (kShared)";
}

Writers writers_of(Communicator& communicator, const CheckpointOptions& options) {
  std::vector<std::string> hosts;
  for (const RankRow& row : communicator.rank_table().rows) hosts.push_back(row.host);
  if (options.storage == CheckpointStorage::kShared) return {communicator.rank(), hosts};
  const std::filesystem::path folder = std::filesystem::absolute(options.folder);
  std::vector<std::string> keys = all_texts(communicator, folder.lexically_normal().string());
  for (std::size_t rank = 0; rank < keys.size(); ++rank) keys[rank] += "\n" + hosts[rank];
  return {communicator.rank(), hosts, keys};
}

std::string first_failure(Communicator& communicator, const Writers& writers,
                          const std::string& mine) {
  const std::vector<std::string> all = all_texts(communicator, mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].empty()) return writers.told_by(rank, all[rank]);
  }
  return {};
}

std::string on_chiefs(Communicator& communicator, const Writers& writers,
                      const std::function<void()>& work) {
  return first_failure(communicator, writers, writers.is_chief() ? failure_of(work) : "");
}

}  // namespace rota::checkpoint
