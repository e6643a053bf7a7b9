// Lets processes that open the library of an MPI or of PMIx run under AddressSanitizer.
#pragma once

namespace rota::testing {

// Those libraries leave memory to the end of the process, which LeakSanitizer would report.
inline constexpr const char* kWithLeaksOfOthers = "ASAN_OPTIONS=detect_leaks=0";

}  // namespace rota::testing
