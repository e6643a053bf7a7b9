// Files that one looks at before one trusts them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/fd.h"

namespace rota::os {

// A file that is open for reading, and what is true of this one whatever its path leads to later.
struct OpenedFile {
  Fd file;
  bool is_regular = false;
  std::uint32_t owner = 0;
  std::uint32_t permissions = 0;       // As of chmod: 0640.
  std::optional<std::string> failure;  // Why there is no file.
};

// Links are followed. Waits for nobody, not even where a pipe lies at `path`.
OpenedFile open_file(const std::string& path);

// Puts `text` in place of what a regular file holds that is there and that this process may write.
// Makes no file, and waits for nobody; false where it could not.
bool overwrite_file(const std::string& path, std::string_view text) noexcept;

// The folder of `path`, or of what it leads to as a link, where anybody may put another file in its
// place: all may write there, and it is not sticky. Empty where neither is such a folder.
std::optional<std::string> folder_open_to_all(const std::string& path);

// The user in whose name this process opens files.
std::uint32_t own_user() noexcept;

}  // namespace rota::os
