// Draws, writes and reads the name of a run.
#include "checkpoint/run_id.h"

#include "base/hex.h"
#include "os/host.h"

namespace rota::checkpoint {

RunId random_run_id() {
  RunId run;
  os::fill_with_randomness(run.bits);
  return run;
}

std::string to_text(const RunId& run) { return base::to_hex(run.bits); }

std::optional<RunId> run_id_from(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  RunId run;
  if (text.size() != 2 * run.bits.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    std::byte& byte = run.bits[i / 2];
    byte = (byte << 4) | static_cast<std::byte>(digit);
  }
  return run;
}

}  // namespace rota::checkpoint
