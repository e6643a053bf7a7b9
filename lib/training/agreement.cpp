// Compares what ranks are about to train. The comparison needs only all-gathers of bytes.
#include "training/agreement.h"

#include <algorithm>
#include <cstdint>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "base/hash.h"
#include "base/number_text.h"

namespace rota::training {
namespace {

using base::shortest_text;

std::string text_of(const Sgd& sgd) {
  return "sgd, learning rate " + shortest_text(sgd.learning_rate) + ", momentum " +
         shortest_text(sgd.momentum) + ", weight decay " + shortest_text(sgd.weight_decay);
}

std::string text_of(const Adam& adam) {
  return "adam, learning rate " + shortest_text(adam.learning_rate) + ", beta1 " +
         shortest_text(adam.beta1) + ", beta2 " + shortest_text(adam.beta2) + ", epsilon " +
         shortest_text(adam.epsilon) + ", weight decay " + shortest_text(adam.weight_decay);
}

std::vector<std::byte> encode(const Facts& facts) {
  base::ByteWriter writer;
  for (const auto& [name, value] : facts) {
    writer.write(std::string_view(name));
    writer.write(std::string_view(value));
  }
  return writer.take();
}

Facts decode(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  Facts facts;
  while (reader.ok() && !reader.at_end()) {
    std::string name = reader.read_text();
    facts.emplace_back(std::move(name), reader.read_text());
  }
  return facts;
}

// Gathers `mine` of all ranks, rank after rank. All ranks must give the same number of bytes.
std::vector<std::byte> gather(Communicator& communicator, std::span<const std::byte> mine) {
  std::vector<std::byte> all(mine.size() * communicator.world_size());
  std::copy(mine.begin(), mine.end(),
            all.begin() + static_cast<std::ptrdiff_t>(mine.size() * communicator.rank()));
  communicator.all_gather(all);
  return all;
}

// A digest of a rank's facts. If all digests are equal, no facts need to be sent.
struct Digest {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

std::vector<Digest> gather_digests(Communicator& communicator, const Digest& mine) {
  base::ByteWriter writer;
  writer.write(mine.bytes);
  writer.write(mine.hash);
  const std::vector<std::byte> all = gather(communicator, writer.take());
  base::ByteReader reader(all);
  std::vector<Digest> digests(communicator.world_size());
  for (Digest& digest : digests) {
    digest.bytes = reader.read<std::uint64_t>();
    digest.hash = reader.read<std::uint64_t>();
  }
  return digests;
}

bool has_fact(const Facts& facts, const std::string& name) {
  return std::ranges::find(facts, name, &Facts::value_type::first) != facts.end();
}

// Returns what `side` has at `fact`, in words. The rank `other` has the fact `others` at this
// place. If `side` lacks `others`, `fact` may be a later fact that both ranks have: then `side` is
// said to lack `others`. A noted fact has an empty text.
std::string words_for(const RankFacts& side, Facts::const_iterator fact, const RankFacts& other,
                      Facts::const_iterator others) {
  const std::string begin = "rank " + std::to_string(side.rank) + " has ";
  if (fact == side.facts.end()) return begin + "nothing more";
  const bool lacks = others != other.facts.end() && !has_fact(side.facts, others->first) &&
                     has_fact(other.facts, fact->first);
  if (lacks) return begin + "no " + others->first;
  return begin + fact->first + (fact->second.empty() ? "" : " " + fact->second);
}

}  // namespace

Facts facts_of(std::span<const ParameterInfo> parameters) {
  Facts facts;
  for (const ParameterInfo& parameter : parameters) {
    std::string shape;
    for (const std::size_t side : parameter.shape) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(side);
    }
    facts.emplace_back(parameter.name, "[" + shape + "]");
  }
  return facts;
}

std::string to_text(const OptimizerOptions& options) {
  return std::visit([](const auto& chosen) { return text_of(chosen); }, options);
}

std::optional<std::string> difference(const RankFacts& theirs, const RankFacts& ours) {
  if (theirs.facts == ours.facts) return std::nullopt;
  const auto [left, right] =
      std::mismatch(theirs.facts.begin(), theirs.facts.end(), ours.facts.begin(), ours.facts.end());
  return words_for(theirs, left, ours, right) + ", but " + words_for(ours, right, theirs, left);
}

void check_agreement(Communicator& communicator, const Facts& facts) {
  std::vector<std::byte> mine = encode(facts);
  const std::vector<Digest> digests =
      gather_digests(communicator, {mine.size(), base::fnv1a(std::span(mine))});
  const auto odd = std::find_if(digests.begin(), digests.end(),
                                [&](const Digest& digest) { return digest != digests.front(); });
  if (odd == digests.end()) return;

  // Every rank sees the difference, so every rank takes part in showing both sides.
  std::uint64_t longest = 0;
  for (const Digest& digest : digests) longest = std::max(longest, digest.bytes);
  const auto stride = static_cast<std::size_t>(longest);
  mine.resize(stride);
  const std::vector<std::byte> all = gather(communicator, mine);
  const auto facts_of_rank = [&](std::size_t rank) {
    const auto bytes = static_cast<std::size_t>(digests[rank].bytes);
    return decode(std::span(all).subspan(rank * stride, bytes));
  };
  const auto blamed = static_cast<std::size_t>(odd - digests.begin());
  const Facts theirs = facts_of_rank(blamed);
  const Facts ours = facts_of_rank(0);
  throw Error(ErrorCode::kMismatch,
              "the ranks would not train the same: " +
                  difference({blamed, theirs}, {0, ours}).value_or("nothing differs") +
                  "; start every rank with the same program and options",
              blamed);
}

}  // namespace rota::training
