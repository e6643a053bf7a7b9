// Writes to standard outputs and to files of output. An Output never blocks, even on a descriptor
// that other processes share in blocking mode.
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

// A standard output of this process. All processes that share the descriptor share its O_NONBLOCK
// flag, so this class does not change the flag. Instead the class opens the pipe or terminal a
// second time, and so gets a flag of its own.
class Output {
 public:
  explicit Output(int fd);

  int fd() const noexcept { return own_ ? own_.get() : fd_; }

  struct WriteResult {
    Io io = Io::kWouldBlock;  // kClosed: no reader is left, or writing is impossible.
    std::size_t count = 0;
    int refusal = 0;  // With kWouldBlock: errno of a file that takes no more now (full disk).
  };
  // Writes as many bytes as the output takes now. Must be called when fd() is writable.
  WriteResult write(std::string_view text) noexcept;

 private:
  enum class Kind { kAlwaysReady, kNonBlocking, kSocket, kMayBlock };

  int fd_;
  Fd own_;
  Kind kind_ = Kind::kMayBlock;
};

// Writes all of `text` to a standard output, and waits for its reader, even if another process has
// made the output non-blocking. Returns false if the output does not take all of it. Does not write
// at the limit of file sizes (ulimit -f): there, SIGXFSZ would end a process that watches no
// signals, and so does not ignore SIGXFSZ.
bool print(int fd, std::string_view text) noexcept;

// Creates the folder `path` if it is missing, and opens it. Follows no link in the last part of its
// path, as the link may belong to another user. Throws Error kSystem that names the path.
Fd create_folder(const std::string& path);

// Creates or empties the file `name` of `folder`; `path` names the folder in errors. Follows no
// link. Refuses a file with a second name (a hard link), and anything that is not a regular file:
// these may belong to another user. Throws Error kSystem that names the file.
Fd create_file(const Fd& folder, const std::string& path, const std::string& name);

// Opens the file as create_file() does, but keeps its contents: new text comes after them.
Fd continue_file(const Fd& folder, const std::string& path, const std::string& name);

// Writes all of `text` to a file. Throws Error kSystem, kNoMemory.
void write_file(const Fd& file, std::string_view text);

}  // namespace rota::os
