// Which ranks write one copy of a checkpoint to one folder: all ranks, or those of one host. All
// other code of this folder knows groups of ranks, and a folder that all hosts share is one group.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <rota/checkpoint.h>
#include <rota/communicator.h>

namespace rota::checkpoint {

// The place of one rank in the groups of a world.
class Writers {
 public:
  // All ranks are one group, or, with `keys`, ranks with the same key. The first group is that of
  // rank 0. `hosts` and `keys`: index = rank.
  Writers(std::size_t rank, const std::vector<std::string>& hosts);
  Writers(std::size_t rank, std::vector<std::string> hosts, const std::vector<std::string>& keys);

  std::size_t rank() const noexcept { return rank_; }
  std::size_t world_size() const noexcept { return group_of_.size(); }

  std::size_t group_count() const noexcept { return groups_.size(); }
  std::size_t group() const noexcept { return group_of_[rank_]; }
  std::size_t group_of(std::size_t rank) const noexcept { return group_of_[rank]; }

  // The first rank of a group alone names, renames and removes what is in the group's folder.
  std::size_t chief_of(std::size_t group) const noexcept { return groups_[group].front(); }
  bool is_chief() const noexcept { return chief_of(group()) == rank_; }

  // The place of this rank among the ranks of its group, and their number.
  std::size_t index() const noexcept { return index_; }
  std::size_t group_size() const noexcept { return groups_[group()].size(); }

  const std::string& host_of(std::size_t rank) const noexcept { return hosts_[rank]; }

  // "rank 3 on host b"
  std::string name_of(std::size_t rank) const;

  // `text` of a rank, for the people who read it on another host. It names the rank unless all
  // ranks share the folder and this is rank 0.
  std::string told_by(std::size_t rank, const std::string& text) const;

  // What to do if ranks do not see the folder that they should see.
  std::string what_folders_are_needed() const;

 private:
  std::size_t rank_;
  std::vector<std::string> hosts_;
  std::vector<std::size_t> group_of_;             // Index = rank.
  std::vector<std::vector<std::size_t>> groups_;  // Their ranks, ascending.
  std::size_t index_ = 0;
};

// With CheckpointStorage::kPerHost, the ranks of one host that name the same folder are a group.
// Collective. Throws what collectives throw.
Writers writers_of(Communicator& communicator, const CheckpointOptions& options);

// Returns the first failure that a rank tells of, with the name of the rank. `mine` is empty if
// this rank has not failed. Returns an empty text if no rank has. Collective. Throws what
// collectives throw.
std::string first_failure(Communicator& communicator, const Writers& writers,
                          const std::string& mine);

// Calls `work` on the first rank of each group. Returns the first failure, on every rank.
// Collective. Throws what collectives throw.
std::string on_chiefs(Communicator& communicator, const Writers& writers,
                      const std::function<void()>& work);

}  // namespace rota::checkpoint
