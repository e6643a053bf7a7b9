// A memfd that holds some bytes and can never change again: several processes read it side by side.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "os/fd.h"

namespace rota::os {

// `name` shows up in /proc only. Throws Error kSystem, also where a limit on files is below `text`.
Fd make_sealed_file(const std::string& name, std::string_view text);

// The first `bytes` of it; fewer where it holds fewer. Leaves alone where the descriptor stands,
// which every process that has it shares. Throws Error kSystem.
std::string read_sealed_file(const Fd& file, std::size_t bytes);

}  // namespace rota::os
