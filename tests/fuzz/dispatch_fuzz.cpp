// What launchers say to each other, and what is in it.
#include <algorithm>
#include <span>

#include "fuzz/fuzz.h"
#include "launcher/hosts/wire/dispatch.h"
#include "rendezvous/job.h"

namespace {

using namespace rota;

// What was understood is understood again when it is passed on.
template <class Decode>
void require_lasting(const Decode& decode, std::string_view text) {
  const auto value = decode(text);
  if (!value) return;
  const std::string again = launcher::encode(*value);
  const auto twice = decode(again);
  fuzz::require(twice && launcher::encode(*twice) == again, "what was decoded lasts");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  const std::string_view text = fuzz::text_of(data, count);
  const auto bytes = std::as_bytes(std::span(text));
  if (const auto dispatch = launcher::decode_dispatch(bytes)) {
    const auto again = launcher::encode(*dispatch);
    fuzz::require(std::ranges::equal(again, bytes), "there is one way to say it");
  }
  require_lasting(launcher::decode_host_texts, text);
  require_lasting(launcher::decode_hello, text);
  require_lasting(launcher::decode_share, text);
  require_lasting(launcher::decode_seats, text);
  require_lasting(launcher::decode_beginning, text);
  if (const auto hello = launcher::decode_hello(text)) {
    fuzz::require(hello->slot_count <= rendezvous::kMaxWorldSize, "slots have a limit");
  }
  if (const auto share = launcher::decode_share(text)) {
    fuzz::require(share->world > 0, "worlds are numbered from one");
    fuzz::require(share->world_size <= rendezvous::kMaxWorldSize, "a world has a limit");
    fuzz::require(share->groups.size() == share->ranks.size(), "each rank has a program");
    fuzz::require(share->earlier_count <= share->other_count, "those before are of the others");
    for (const std::size_t rank : share->ranks) {
      fuzz::require(rank < share->world_size, "ranks are of the world");
    }
  }
  if (const auto seats = launcher::decode_seats(text)) {
    fuzz::require(seats->addresses.size() == seats->cores.size(), "each has both");
    fuzz::require(seats->addresses.size() == seats->devices.size(), "each has devices, or none");
  }
  return 0;
}
