// Turns errno into an Error. The rest of rota never sees errno.
#pragma once
#include <string>

#include <rota/error.h>

namespace rota::os {

// Throws Error kSystem (kNoMemory for ENOMEM and ENOSPC): "`what`: No space left on device".
[[noreturn]] void throw_errno(const std::string& what);
[[noreturn]] void throw_errno(const std::string& what, int error_number);

// Throws Error kCannotWrite that also says what to do: "PATH: cannot be synced after 4096 bytes:
// Input/output error; look at the disk …". `what` is a participle.
[[noreturn]] void throw_cannot_write(const std::string& path, const std::string& what,
                                     int error_number);

}  // namespace rota::os
