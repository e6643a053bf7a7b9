// A folder of checkpoints. A checkpoint appears there whole, by one rename, or not at all, and is
// never written over.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/file_names.h"

namespace rota::checkpoint {

class CheckpointFolder {
 public:
  // The folder need not exist.
  explicit CheckpointFolder(std::string path);

  const std::string& path() const noexcept { return path_; }
  std::string path_of(std::uint64_t step) const;
  std::string path_of_hidden(const SaveName& save) const;

  // Creates the folder, and the folders above it, if they are missing. Throws Error kCannotWrite.
  void create() const;

  // Renames a hidden folder that has a file, and deletes it. Some file systems that are a view of
  // an object store cannot do that, so each save would fail there. Requires that no run and no
  // other caller has the `token`: where there are no locks, several jobs may call this at a time.
  // Throws Error kCannotWrite. If folders cannot be renamed there, the text says what rota needs.
  void require_renames(const RunId& token) const;

  // Returns the steps of the checkpoints, newest first, or an empty list if the folder is missing.
  // Does not check whether the checkpoints are whole. Throws Error kSystem if it cannot be read.
  std::vector<std::uint64_t> steps() const;

  // The saves that were interrupted, and whose hidden folders are there. Throws as steps() does.
  std::vector<SaveName> hidden_saves() const;

  // Makes a hidden folder for the files of a new checkpoint, and returns its path. Removes an
  // earlier one of the same name first. Throws Error kCannotWrite.
  std::string begin(const SaveName& save) const;

  // Gives the hidden folder the name of its checkpoint. If a checkpoint of this step is there, it
  // is set aside first as "STEP.set-aside-K": a run comes to a step again only if it did not resume
  // from that checkpoint. It may be damaged, or another host may lack it. Returns the path of the
  // checkpoint once the disk has the new name. Throws Error kCannotWrite; then the name may be new
  // or old, and the checkpoint is whole in either case.
  std::string commit(const SaveName& save) const;

  // Deletes the checkpoint of `step`, if it is there. The folder gets a hidden name first, so a
  // part of the checkpoint cannot be taken for a checkpoint. Throws Error kCannotWrite.
  void remove(std::uint64_t step) const;

  // Sets aside each checkpoint later than `step`, and returns when the disk has the new names. A
  // run that has saved `step` did not resume from them. If they stayed, the next start could take
  // one of them. Throws Error kCannotWrite.
  void set_aside_after(std::uint64_t step) const;

  // Of the checkpoints up to step `last`, removes all but the newest `keep` and those of the steps
  // `spared`. Returns the steps that it removed. Requires keep > 0. Throws Error kCannotWrite.
  std::vector<std::uint64_t> keep_newest(std::size_t keep, std::uint64_t last,
                                         const std::vector<std::uint64_t>& spared) const;

  // Deletes what an interrupted save or removal left behind, and returns the names. Requires that
  // no other job uses the folder. Throws Error kCannotWrite.
  std::vector<std::string> sweep() const;

 private:
  std::string inside(const std::string& name) const;
  void set_aside(std::uint64_t step) const;

  std::string path_;
};

}  // namespace rota::checkpoint
