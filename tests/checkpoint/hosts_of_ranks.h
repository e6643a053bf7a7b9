// Places ranks on hosts that keep a folder of checkpoints each. Ranks of one host that name another
// folder count as another host, so the ranks of a test can be on one machine.
#pragma once
#include <rota/checkpoint.h>

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace rota::testing {

// "aab": ranks 0 and 1 are on host a, and rank 2 is on host b. Empty: all share one folder.
struct HostsOfRanks {
  std::filesystem::path folder;
  std::string hosts;

  // Of the rank.
  std::filesystem::path folder_of(std::size_t rank) const {
    return hosts.empty() ? folder : folder / hosts.substr(rank, 1);
  }

  std::vector<std::filesystem::path> all_folders() const {
    if (hosts.empty()) return {folder};
    std::vector<std::filesystem::path> folders;
    for (const char host : std::set(hosts.begin(), hosts.end())) {
      folders.push_back(folder / std::string(1, host));
    }
    return folders;
  }

  CheckpointStorage storage() const {
    return hosts.empty() ? CheckpointStorage::kShared : CheckpointStorage::kPerHost;
  }

  bool is_chief(std::size_t rank) const {
    return hosts.empty() ? rank == 0 : hosts.find(hosts[rank]) == rank;
  }
};

}  // namespace rota::testing
