// Shows a test each call by which its program changes the files of a folder, or gives them to the
// disk. A program that is linked with watched_calls.cpp makes these calls through that file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace rota::testing {

struct FileCall {
  enum class Kind : std::uint8_t {
    kOpen,  // Of something that is there.
    kCreate,
    kMakeFolder,
    kWrite,
    kTruncate,
    kSync,
    kRename,
    kRemove,  // A file or an empty folder.
    kClose,
  };
  Kind kind = Kind::kOpen;
  std::string path;
  std::string to;            // kRename: the new path.
  std::uint64_t offset = 0;  // kWrite: of the first byte. kTruncate: the new size.
  std::string bytes;         // kWrite.
};

// The functions must not make such calls themselves. One call at a time is made and shown, so
// threads see one order.
struct CallWatch {
  std::string folder;  // Absolute. Calls for anything in it are shown, and for the folder itself.
  std::function<void(const FileCall&)> before;
  std::function<void(const FileCall&)> after;  // Not for a call that has failed.
  std::size_t most_bytes = 2000;  // That one write writes; so a file is written in several calls.
};

// Replaces the earlier watch. Call it while no other thread makes such calls.
void watch_calls(CallWatch watch);

}  // namespace rota::testing
