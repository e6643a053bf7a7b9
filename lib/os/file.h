// Opens and overwrites files that must be checked before they are trusted.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/fd.h"

namespace rota::os {

// A file open for reading, and its properties. The properties describe this open file, even if its
// path leads to another file later.
struct OpenedFile {
  Fd file;
  bool is_regular = false;
  std::uint32_t owner = 0;
  std::uint32_t permissions = 0;       // As for chmod: 0640.
  std::optional<std::string> failure;  // Why `file` is empty.
};

// Opens the file at `path`, and follows links. Never waits, not even for a pipe at `path`.
OpenedFile open_file(const std::string& path);

// Replaces the contents of an existing regular file with `text`. Creates no file and never waits.
// Returns false when not all of `text` was written.
bool overwrite_file(const std::string& path, std::string_view text) noexcept;

// Looks for a folder in which every user could replace the file: a folder that all users can write
// to, and that is not sticky. Checks the folder of `path` and, if `path` is a link, the folder of
// the file that the link leads to. Returns the first such folder; empty if there is none.
std::optional<std::string> folder_open_to_all(const std::string& path);

// Makes a folder that only this user may use. Its parent must exist. Returns why it cannot be made;
// empty if it was made.
std::optional<std::string> make_private_folder(const std::string& path);

// The next two functions return the user ID and the group ID with which this process opens files.
std::uint32_t own_user() noexcept;
std::uint32_t own_group() noexcept;

}  // namespace rota::os
