// Names the exit codes that rotarun itself chooses. All other codes come from the program.
// docs/exit_codes.md has the whole table.
#pragma once

namespace rota::launcher {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitKey = 77;
inline constexpr int kExitSpecification = 78;
inline constexpr int kExitLeftEarly = 79;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitIncomplete = 200;
inline constexpr int kExitSilent = 201;
inline constexpr int kExitSlotHeld = 202;
inline constexpr int kExitSignalBase = 128;

}  // namespace rota::launcher
