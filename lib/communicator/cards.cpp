// Exchanges texts through the coordinator's store, and derives from the cards where ranks are.
#include "communicator/cards.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "os/address.h"

namespace rota {
namespace {

// A piece, its key and the fields of the message fit into one message.
constexpr std::size_t kPieceBytes = 48 * 1024;

base::Duration left_until(base::TimePoint deadline) {
  return std::max(base::Duration(0), base::Duration(deadline - base::Clock::now()));
}

std::string to_text(base::ByteWriter& out) {
  const auto bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void throw_malformed() {
  throw Error(ErrorCode::kBadData,
              "another rank's card is malformed: link all programs with the same rota");
}

std::string key_of_piece(const std::string& topic, std::size_t piece) {
  return topic + " of all, piece " + std::to_string(piece);
}

// Puts a text of any length. The first piece begins with the number of bytes.
void put_all(rendezvous::Client& client, const std::string& topic, const std::string& text) {
  base::ByteWriter out;
  out.write(static_cast<std::uint64_t>(text.size()));
  const std::string whole = to_text(out) + text;
  for (std::size_t at = 0, piece = 0; at < whole.size(); at += kPieceBytes, ++piece) {
    client.put(key_of_piece(topic, piece), whole.substr(at, kPieceBytes));
  }
}

std::string get_all(rendezvous::Client& client, const std::string& topic,
                    base::TimePoint deadline) {
  const std::string first = client.get(key_of_piece(topic, 0), left_until(deadline));
  base::ByteReader in(base::bytes_of(first));
  const auto bytes = in.read<std::uint64_t>();
  std::string text = first.substr(std::min(first.size(), sizeof bytes));
  for (std::size_t piece = 1; text.size() < bytes; ++piece) {
    text += client.get(key_of_piece(topic, piece), left_until(deadline));
  }
  return text;
}

// Users of one machine share its CPUs.
std::string_view machine_of(const Card& card) noexcept {
  return std::string_view(card.domain).substr(0, card.domain.find('/'));
}

}  // namespace

std::string encode(const Card& card) {
  base::ByteWriter out;
  out.write(card.domain);
  out.write(card.host);
  out.write(card.local_name);
  out.write(card.rank_0_host);
  out.write(card.cpus);
  return to_text(out);
}

Card decode_card(std::string_view text) {
  base::ByteReader in(base::bytes_of(text));
  Card card{.domain = in.read_text(), .host = in.read_text(), .local_name = in.read_text()};
  card.rank_0_host = in.read_text();
  card.cpus = in.read_text();
  if (!in.ok() || !in.at_end()) throw_malformed();
  return card;
}

base::Domains domains_of(const std::vector<Card>& cards) {
  std::map<std::string, std::uint32_t> numbers;
  base::Domains domains;
  for (const Card& card : cards) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    domains.push_back(numbers.try_emplace(card.domain, next).first->second);
  }
  return domains;
}

void add_hosts(const std::vector<Card>& cards, RankTable& table) {
  std::map<std::string, std::size_t> count_in;
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    table.rows[rank].host = cards[rank].host;
    table.rows[rank].local_rank = count_in[cards[rank].domain]++;
  }
}

std::string cpu_bits(const std::vector<int>& cpus) {
  std::string bits;
  for (const int cpu : cpus) {
    const auto byte = static_cast<std::size_t>(cpu) / 8;
    if (bits.size() <= byte) bits.resize(byte + 1);
    bits[byte] = static_cast<char>(bits[byte] | (1 << (cpu % 8)));
  }
  return bits;
}

bool may_spin(const std::vector<Card>& cards, std::size_t rank) {
  std::size_t together = 0;
  std::string all;
  for (const Card& card : cards) {
    if (machine_of(card) != machine_of(cards[rank])) continue;
    ++together;
    all.resize(std::max(all.size(), card.cpus.size()));
    for (std::size_t i = 0; i < card.cpus.size(); ++i) {
      all[i] = static_cast<char>(all[i] | card.cpus[i]);
    }
  }
  std::size_t count = 0;
  for (const char byte : all) {
    count += static_cast<std::size_t>(std::popcount(static_cast<unsigned char>(byte)));
  }
  return together <= count;
}

bool can_be_used_elsewhere(const std::string& host) {
  const auto address = os::numeric_address({.host = host, .port = "0"});
  return !host.empty() && address && !address->is_loopback();
}

std::string host_of_rank_0(const std::vector<Card>& cards) {
  const auto elsewhere = std::ranges::find_if(
      cards, [](const Card& card) { return can_be_used_elsewhere(card.rank_0_host); });
  return elsewhere == cards.end() ? os::kLoopback : elsewhere->rank_0_host;
}

std::vector<std::string> exchange(rendezvous::Client& client, std::size_t rank,
                                  std::size_t world_size, const std::string& topic,
                                  const std::string& own, base::TimePoint deadline) {
  const auto key_of = [&](std::size_t of) { return topic + " of " + std::to_string(of); };
  client.put(key_of(rank), own);
  client.barrier(topic, left_until(deadline));
  if (rank == 0) {
    base::ByteWriter out;
    for (std::size_t of = 0; of < world_size; ++of) {
      out.write(client.get(key_of(of), left_until(deadline)));
    }
    put_all(client, topic, to_text(out));
  }
  const std::string all = get_all(client, topic, deadline);
  base::ByteReader in(base::bytes_of(all));
  std::vector<std::string> texts;
  for (std::size_t of = 0; of < world_size; ++of) texts.push_back(in.read_text());
  if (!in.ok() || !in.at_end()) throw_malformed();
  return texts;
}

}  // namespace rota
