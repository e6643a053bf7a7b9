// Makes a memfd whose bytes never change again, so that several processes can read the memfd at the
// same time.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "os/fd.h"

namespace rota::os {

// Makes a file that holds `text`. `name` appears in /proc only. Throws Error kSystem, for example
// when the limit on file sizes is below the size of `text`.
Fd make_sealed_file(const std::string& name, std::string_view text);

// Returns the first `bytes` bytes, or fewer if the file has fewer. Does not move the file position,
// which all processes with the descriptor share. Throws Error kSystem.
std::string read_sealed_file(const Fd& file, std::size_t bytes);

}  // namespace rota::os
