// Ranks of one host send each other messages in memory, and tell each other that they leave.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "orders/weakening.h"
#include "transport/shm/transport.h"

namespace rota::orders {
namespace {

using transport::Channel;
using transport::Header;
using transport::Progress;
using transport::shm::Domain;

// Two arenas, mapped once. They have room for a staging ring.
const std::shared_ptr<Domain>& domain() {
  static const auto made = transport::shm::make_thread_arenas(2, std::size_t{512} * 1024);
  return made;
}

std::vector<std::span<std::byte>> two_arenas() { return {domain()->bytes(0), domain()->bytes(1)}; }

std::unique_ptr<transport::shm::Transport> shm_transport_of(std::size_t rank) {
  return std::make_unique<transport::shm::Transport>(domain(), rank,
                                                     std::vector<std::size_t>{0, 1});
}

void send_message(Channel& channel, std::span<const std::byte> payload, std::uint64_t number) {
  channel.start_send({.bytes = payload.size(), .signature = {number}}, payload);
  Progress progress{};
  do {
    wait_until([&] { return (progress = channel.progress_send()) != Progress::kNone; });
  } while (progress != Progress::kDone);
}

void receive_message(Channel& channel, std::span<std::byte> into, std::uint64_t number) {
  const Header* header = nullptr;
  wait_until([&] { return (header = channel.incoming()) != nullptr; });
  expect(header->signature[0] == number && header->bytes == into.size(), "the header is right");
  while (!into.empty()) {
    std::size_t bytes = 0;
    wait_until([&] { return (bytes = channel.receive(into)) > 0; });
    into = into.subspan(bytes);
  }
  channel.finish_receive();
}

// Sends two messages, the second from the same memory. `kIsStaged`: the receiver cannot reach it.
template <std::size_t kBytes, bool kIsStaged>
void two_messages() {
  const auto sender = shm_transport_of(0);
  const auto receiver = shm_transport_of(1);
  std::thread sends([&] {
    std::vector<std::byte> own(kIsStaged ? kBytes : 0);
    const Block block = kIsStaged ? Block() : sender->allocate(kBytes);
    const std::span<std::byte> payload = kIsStaged ? std::span(own) : block.bytes();
    for (std::uint64_t number = 1; number <= 2; ++number) {
      if (kBytes > 0) payload[0] = payload[kBytes - 1] = static_cast<std::byte>(number);
      send_message(sender->channel(1), payload, number);
    }
  });
  std::thread receives([&] {
    std::vector<std::byte> into(kBytes);
    for (std::uint64_t number = 1; number <= 2; ++number) {
      receive_message(receiver->channel(0), into, number);
      if (kBytes == 0) continue;
      const auto wanted = static_cast<std::byte>(number);
      expect(into[0] == wanted && into[kBytes - 1] == wanted, "the payload is right");
    }
  });
  sends.join();
  receives.join();
}

// A rank that has left has made its last write: another rank may read what it left behind.
void leaves() {
  auto leaver = shm_transport_of(0);
  const auto stays = shm_transport_of(1);
  int last = 0;
  std::thread first([&] {
    last = 1;
    leaver.reset();
  });
  std::thread second([&] {
    wait_until([&] { return stays->has_left(0); });
    expect(last == 1, "the last write is seen");
  });
  first.join();
  second.join();
}

TEST(Mailbox, NeedsItsOrders) {
  expect_needed_orders(
      {"lib/transport/shm/channel.cpp", "lib/transport/shm/transport.cpp"},
      {{"empty messages", two_messages<0, false>, two_arenas()},
       {"messages in place", two_messages<100, false>, two_arenas()},
       {"staged messages", two_messages<100, true>, two_arenas()},
       {"a message larger than the ring", two_messages<(256 << 10) + 100, true>, two_arenas()},
       {"a rank that leaves", leaves, two_arenas()}});
}

}  // namespace
}  // namespace rota::orders
