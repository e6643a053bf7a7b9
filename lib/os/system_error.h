// Turns errno into an Error. The rest of rota never sees errno.
#pragma once
#include <string>

#include <rota/error.h>

namespace rota::os {

// Throws Error kSystem (kNoMemory for ENOMEM and ENOSPC): "`what`: No space left on device".
[[noreturn]] void throw_errno(const std::string& what);
[[noreturn]] void throw_errno(const std::string& what, int error_number);

}  // namespace rota::os
