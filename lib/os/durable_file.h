// Creates, renames and deletes files and folders so that they survive a loss of power. Every
// failure is an Error kCannotWrite that names the path and the reason.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "os/fd.h"

namespace rota::os {

// A new file. Bytes are appended to it; sync() waits until the disk has them.
class NewFile {
 public:
  // Creates `path`. Throws Error kCannotWrite, for example if something with this name exists.
  explicit NewFile(std::string path);

  std::uint64_t written() const noexcept { return written_; }

  // Throws Error kCannotWrite, whose text has the number of bytes that were written before the
  // failure.
  void append(std::span<const std::byte> bytes);

  // Lets the system begin to write the new bytes to the disk, so that sync() waits less. Does not
  // wait for the disk. Only sync() reports failures.
  void start_writing() noexcept;

  // Removes all bytes from byte `size` on, if the disk allows it. After a failed append(), the file
  // is then as before, and append() may be tried again. Requires size <= written().
  void cut_back(std::uint64_t size) noexcept;

  // Locks the file until close() or sync(), so that is_locked() of other descriptors is true. Does
  // nothing on a file system without locks. Throws Error kCannotWrite if somebody has locked it.
  void lock();

  // Closes the file without waiting for the disk, and ends its lock, even if a forked process has
  // the file too. No other call may follow. Never throws.
  void close() noexcept;

  // Returns when the disk has all bytes, and closes the file. Call it once. After a failure the
  // bytes may be lost, and trying again would not show that, so the caller must not use the file.
  void sync();

 private:
  std::string path_;
  Fd file_;
  std::uint64_t written_ = 0;
  std::uint64_t started_ = 0;  // Bytes whose way to the disk has begun.
};

// Creates the folder `path`, whose parent must exist.
void make_folder(const std::string& path);

// Returns why `path` cannot be in a file system: it is an address such as "s3://bucket/run", and
// not a relative path through a folder named "s3:". Returns an empty text for all other paths.
std::string why_no_path(const std::string& path);

// Creates the folder `path` and all missing folders above it. Accepts one that exists. Refuses a
// path for which why_no_path() has a reason.
void make_folders(const std::string& path);

// Returns when the disk has the names in the folder `path`.
void sync_folder(const std::string& path);

// Renames a file or a folder. A folder with contents at `to` is never replaced: that is an Error.
void rename(const std::string& from, const std::string& to);

// Does the same with a folder that this process has just made, to find out whether its file system
// renames folders. If not, the text says what rota needs.
void require_rename(const std::string& from, const std::string& to);

// Renames a folder, unless anything has the name `to` already, even an empty folder: then returns
// false. At every moment, `to` has the whole folder or is not there.
bool rename_to_free_name(const std::string& from, const std::string& to);

// Does the same on a file system that cannot rename in this way, such as NFS: first makes an empty
// folder `to`, which nothing else can then make. rename_to_free_name() calls this if it must. If
// the process is killed meanwhile, the empty folder stays.
bool rename_to_made_name(const std::string& from, const std::string& to);

// Deletes a file, or a folder with all that it has. Follows no link. Accepts that nothing is there.
void remove_all(const std::string& path);

// Returns whether there is anything at `path`, even a link that leads nowhere. Throws
// UnreadableFile if that cannot be found out.
bool exists(const std::string& path);

// Returns the names in the folder `path`, sorted. Throws Error kNotFound if there is no folder,
// and UnreadableFile.
std::vector<std::string> names_in(const std::string& path);

}  // namespace rota::os
