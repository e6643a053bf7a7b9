// Models what a disk may have after a loss of power, as POSIX allows it. Without this model, no
// test could tell which syncs are needed.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/watched_calls.h"

namespace rota::testing {

// Paths relative to the root, and the bytes of each file; empty for a folder.
using Tree = std::map<std::string, std::optional<std::string>>;

// The bytes of a file, and the names in a folder, are on the disk once that file or that folder has
// been synced. Until then, each single change may be there or not, whatever came before or after.
// A rename is one change, since file systems promise that.
class DiskModel {
 public:
  // `root` is an empty folder on the disk.
  explicit DiskModel(const std::string& root);

  // Applies a call that has succeeded for something below the root. Renames stay in one folder.
  void apply(const FileCall& call);

  // Returns what processes see.
  Tree now() const;

  // Returns everything that the disk may have, if at most 10 changes are not synced. If there are
  // more, returns only some cases: all changes are lost, none is, one is, all except one are, the
  // last ones are, and cases that `seed` draws.
  std::set<Tree> after_loss_of_power(std::uint64_t seed) const;

 private:
  // A file or a folder, which may have another name later.
  struct Thing {
    bool is_folder = false;
    std::string bytes;
    std::map<std::string, std::size_t> names;  // In a folder.
  };
  struct Change {
    enum class Kind : std::uint8_t { kName, kRemove, kWrite, kTruncate };
    Kind kind = Kind::kName;
    std::size_t thing = 0;  // The one with the bytes or the names.
    std::size_t named = 0;  // kName, kRemove.
    std::string name;       // kName: from now on.
    std::uint64_t offset = 0;
    std::string bytes;
  };
  using Things = std::vector<Thing>;

  static void apply(const Change& change, Things& things);
  static Tree tree_of(const Things& things);
  std::optional<std::size_t> find(const std::string& path) const;
  Change name(const std::string& path, std::size_t named) const;
  std::size_t add_thing(bool is_folder);
  void change(Change change);
  void sync(std::size_t thing);
  void forget_unreachable();

  std::string root_;
  Things now_;
  Things disk_;                  // The same indices. 0: the root.
  std::vector<Change> pending_;  // In their order.
};

}  // namespace rota::testing
