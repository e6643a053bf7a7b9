// What launchers say to each other, and what is in it.
#include <algorithm>
#include <span>

#include "fuzz/fuzz.h"
#include "launcher/hosts/dispatch.h"
#include "rendezvous/job.h"

namespace {

using namespace rota;

// What was understood is understood again when it is passed on.
template <class Decode>
void require_lasting(const Decode& decode, std::string_view text) {
  const auto value = decode(text);
  if (!value) return;
  const auto again = launcher::encode(*value);
  fuzz::require(decode(again) == value, "what was decoded lasts");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  const std::string_view text = fuzz::text_of(data, count);
  const auto bytes = std::as_bytes(std::span(text));
  if (const auto dispatch = launcher::decode_dispatch(bytes)) {
    const auto again = launcher::encode(*dispatch);
    fuzz::require(std::ranges::equal(again, bytes), "there is one way to say it");
  }
  require_lasting(launcher::decode_hello, text);
  require_lasting(launcher::decode_assignment, text);
  require_lasting(launcher::decode_seats, text);
  if (const auto hello = launcher::decode_hello(text)) {
    fuzz::require(hello->slot_count >= 1 && hello->slot_count <= rendezvous::kMaxWorldSize,
                  "slots have limits");
  }
  if (const auto assignment = launcher::decode_assignment(text)) {
    fuzz::require(assignment->world_size <= rendezvous::kMaxWorldSize, "a world has a limit");
    for (const std::size_t rank : assignment->ranks) {
      fuzz::require(rank < assignment->world_size, "ranks are of the world");
    }
  }
  if (const auto seats = launcher::decode_seats(text)) {
    fuzz::require(seats->addresses.size() == seats->cores.size(), "each has both");
  }
  return 0;
}
