// Fuzzes the control messages between launchers, and their contents.
#include <algorithm>
#include <span>

#include "fuzz/fuzz.h"
#include "launcher/hosts/wire/control_message.h"
#include "rendezvous/job.h"

namespace {

using namespace rota;

// Requires that a decoded value decodes again after it is encoded.
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
  if (const auto message = launcher::decode_control_message(bytes)) {
    const auto again = launcher::encode(*message);
    fuzz::require(std::ranges::equal(again, bytes), "there is one way to say it");
  }
  require_lasting(launcher::decode_host_texts, text);
  require_lasting(launcher::decode_hello, text);
  require_lasting(launcher::decode_assignment, text);
  require_lasting(launcher::decode_endpoints, text);
  require_lasting(launcher::decode_start_info, text);
  if (const auto hello = launcher::decode_hello(text)) {
    fuzz::require(hello->slot_count <= rendezvous::kMaxWorldSize, "slots have a limit");
  }
  if (const auto assignment = launcher::decode_assignment(text)) {
    fuzz::require(assignment->world > 0, "worlds are numbered from one");
    fuzz::require(assignment->world_size <= rendezvous::kMaxWorldSize, "a world has a limit");
    fuzz::require(assignment->groups.size() == assignment->ranks.size(), "each rank has a program");
    fuzz::require(assignment->earlier_count <= assignment->other_count,
                  "those before are of the others");
    for (const std::size_t rank : assignment->ranks) {
      fuzz::require(rank < assignment->world_size, "ranks are of the world");
    }
  }
  if (const auto endpoints = launcher::decode_endpoints(text)) {
    fuzz::require(endpoints->addresses.size() == endpoints->cores.size(), "each has both");
    fuzz::require(endpoints->addresses.size() == endpoints->devices.size(),
                  "each has devices, or none");
  }
  return 0;
}
