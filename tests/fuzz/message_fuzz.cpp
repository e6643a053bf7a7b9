// Fuzzes the messages between ranks and the coordinator.
#include <algorithm>
#include <span>

#include "fuzz/fuzz.h"
#include "rendezvous/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  const auto bytes = std::as_bytes(std::span(data, count));
  const auto message = rendezvous::decode(bytes);
  if (!message) return 0;
  fuzz::require(std::ranges::equal(rendezvous::encode(*message), bytes),
                "there is one way to say it");
  return 0;
}
