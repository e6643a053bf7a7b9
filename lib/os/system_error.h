// Turns errno into an Error. The rest of rota never sees errno.
#pragma once
#include <cstdint>
#include <string>

#include <rota/error.h>

namespace rota::os {

// Throws Error kSystem (kNoMemory for ENOMEM and ENOSPC): "`what`: No space left on device".
[[noreturn]] void throw_errno(const std::string& what);
[[noreturn]] void throw_errno(const std::string& what, int error_number);

// Throws UnreadableFile, whose text has the form of those of throw_errno(). If there is no memory,
// throws as throw_errno() does.
[[noreturn]] void throw_unreadable(const std::string& what);
[[noreturn]] void throw_unreadable(const std::string& what, int error_number);

// Throws the Error of a process or a thread that cannot be started, as throw_errno() does. If a
// limit may be the cause, the text names it, and says what to do.
[[noreturn]] void throw_cannot_start(const std::string& what, int error_number);

// Returns what to do if there is no memory: the end of an error text, which names the limit of
// addresses (ulimit -v). Returns an empty text if this process has no such limit. The texts of
// throw_errno() have this end.
std::string advice_on_memory();

// Returns the same for a given limit, and the same for the number of processes (ulimit -u).
// UINT64_MAX means no limit.
std::string advice_on_memory(std::uint64_t limit);
std::string advice_on_processes(std::uint64_t limit);

// Throws Error kCannotWrite that also says what to do: "PATH: cannot be synced after 4096 bytes:
// Input/output error; look at the disk …". `what` is a participle.
[[noreturn]] void throw_cannot_write(const std::string& path, const std::string& what,
                                     int error_number);

}  // namespace rota::os
