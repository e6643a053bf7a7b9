// Writing without ever blocking, also to a descriptor that others share and want to block.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "os/fd.h"
#include "os/message_socket.h"

namespace rota::os {

inline constexpr int kStdout = 1;
inline constexpr int kStderr = 2;

// A standard output of ours. Its O_NONBLOCK flag belongs to everybody who shares it, so it is left
// alone: a pipe or terminal is opened once more, under a flag of our own.
class Output {
 public:
  explicit Output(int fd);

  int fd() const noexcept { return own_ ? own_.get() : fd_; }

  struct WriteResult {
    Io io = Io::kWouldBlock;  // kClosed: nobody reads any more, or it cannot be written.
    std::size_t count = 0;
    int refusal = 0;  // With kWouldBlock: the errno of a file that takes no more now: a full disk.
  };
  // Call it when fd() is writable.
  WriteResult write(std::string_view text) noexcept;

 private:
  enum class Kind { kAlwaysReady, kNonBlocking, kSocket, kMayBlock };

  int fd_;
  Fd own_;
  Kind kind_ = Kind::kMayBlock;
};

// Makes the folder where it is not there, and opens it. Follows no link in the last part of its
// path: that may be somebody else's. Throws Error kSystem naming it.
Fd create_folder(const std::string& path);

// Makes or empties the file `name` of a folder, which `path` names in errors. Follows no link, and
// leaves a file alone that has another name too, or is none: that may be somebody else's. Throws
// Error kSystem naming it.
Fd create_file(const Fd& folder, const std::string& path, const std::string& name);

// The same, but what is in the file stays, and what is written comes after it.
Fd continue_file(const Fd& folder, const std::string& path, const std::string& name);

// Writes all of it to a file. Throws Error kSystem, kNoMemory.
void write_file(const Fd& file, std::string_view text);

}  // namespace rota::os
