// A symbolic run: lanes get turns in a random order until nobody can move any more.
#include "testing/plan_prover.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <deque>
#include <random>
#include <utility>

namespace rota::testing {
namespace {

using collectives::Collective;
using collectives::Lane;
using collectives::Place;
using collectives::Plan;
using collectives::PlanRequest;
using collectives::Step;
using collectives::Verb;

using Ranks = std::bitset<64>;

// What an element holds: the sum of these ranks' elements `index`.
struct Symbol {
  Ranks ranks;
  std::size_t index = 0;
  int scaled = 0;
  int pre_scaled = 0;
  int fed_back = 0;
  std::size_t encoding = 0;  // Which one this is, bit for bit; 0: it was added to since.
};

struct Message {
  Place place;                  // The sender's.
  std::vector<Symbol> symbols;  // Buffered only.
  Ranks heard;                  // Of whom the sender had heard.
};

struct Cursor {
  std::uint32_t done = 0;
  bool started = false;
};

struct Turn {
  std::size_t rank;
  std::size_t lane;
};

class Proof {
 public:
  Proof(const std::vector<Plan>& plans, const std::vector<PlanRequest>& requests,
        const ProofOptions& options)
      : plans_(plans),
        requests_(requests),
        options_(options),
        n_(plans.size()),
        random_(options.seed) {}

  std::optional<std::string> run() {
    begin();
    while (!flaw_ && round()) {
    }
    if (!flaw_) check_all_done();
    if (!flaw_) check_result();
    return flaw_;
  }

 private:
  using Memory = std::array<std::vector<Symbol>, collectives::kBufferCount>;

  void fail(const std::string& text) {
    if (!flaw_) flaw_ = text;
  }
  static std::string name(std::size_t rank) { return "rank " + std::to_string(rank); }

  void begin() {
    memory_.resize(n_);
    cursors_.resize(n_);
    heard_.resize(n_);
    encodings_.resize(n_);
    wires_.resize(n_ * n_);
    for (std::size_t rank = 0; rank < n_; ++rank) {
      const PlanRequest& request = requests_[rank];
      memory_[rank][0].resize(values_count(request));
      memory_[rank][1].resize(input_count(request));
      memory_[rank][2].resize(plans_[rank].scratch_count);
      memory_[rank][3].resize(request.feeds_back ? request.count : 0);
      memory_[rank][4].resize(plans_[rank].coded_count);
      encodings_[rank].resize(request.count);
      auto& start = memory_[rank][memory_[rank][1].empty() ? 0 : 1];
      for (std::size_t i = 0; i < start.size(); ++i) {
        start[i].ranks.set(rank);
        start[i].index = i;
      }
      cursors_[rank].resize(plans_[rank].lanes.size());
      heard_[rank].set(rank);
      for (std::size_t lane = 0; lane < cursors_[rank].size(); ++lane) {
        turns_.push_back({rank, lane});
      }
    }
  }

  bool finished(const Turn& turn) const {
    return cursors_[turn.rank][turn.lane].done == plans_[turn.rank].lanes[turn.lane].step_count;
  }

  // Gives some lanes a turn, in a random order, so that some run far ahead of others. False when
  // none of them all can move any more.
  bool round() {
    std::erase_if(turns_, [&](const Turn& turn) { return finished(turn); });
    std::shuffle(turns_.begin(), turns_.end(), random_);
    bool moved = false;
    for (const Turn& turn : turns_) {
      if (random_() % 2 == 0) moved |= advance(turn);
    }
    for (const Turn& turn : turns_) {
      if (!moved) moved = advance(turn);
    }
    return moved;
  }

  bool may_start(std::size_t rank, const Step& step) const {
    for (std::uint32_t i = 0; i < step.after_count; ++i) {
      const auto& after = plans_[rank].afters[step.first_after + i];
      if (cursors_[rank][after.lane].done < after.count) return false;
    }
    return true;
  }

  bool advance(const Turn& turn) {
    if (finished(turn)) return false;
    const std::size_t rank = turn.rank;
    const Lane& lane = plans_[rank].lanes[turn.lane];
    Cursor& cursor = cursors_[rank][turn.lane];
    const Step& step = plans_[rank].steps[lane.first_step + cursor.done];
    if (!cursor.started && !may_start(rank, step)) return false;
    if (!inside(rank, step.at) || !inside(rank, step.from)) {
      fail(name(rank) + " leaves a buffer");
      return false;
    }
    if (lane.kind == Lane::Kind::kSends) return send(rank, lane.peer, step, cursor);
    if (lane.kind == Lane::Kind::kReceives) return receive(rank, lane.peer, step, cursor);
    return do_local(rank, step, cursor);
  }

  bool inside(std::size_t rank, const Place& place) const {
    const std::size_t count = memory_[rank][static_cast<std::size_t>(place.buffer)].size();
    return place.slice.offset <= count && place.slice.count <= count - place.slice.offset;
  }

  std::span<Symbol> symbols(std::size_t rank, const Place& place) {
    auto& buffer = memory_[rank][static_cast<std::size_t>(place.buffer)];
    return std::span(buffer).subspan(place.slice.offset, place.slice.count);
  }

  bool send(std::size_t rank, std::size_t peer, const Step& step, Cursor& cursor) {
    auto& wire = wires_[rank * n_ + peer];
    if (!cursor.started) {
      const auto now = symbols(rank, step.at);
      wire.push_back({step.at, {now.begin(), now.end()}, heard_[rank]});
      cursor.started = true;
    } else if (options_.wire == ProofOptions::Wire::kInPlace && !wire.empty()) {
      return false;  // Not taken yet.
    } else {
      cursor = {cursor.done + 1, false};
    }
    return true;
  }

  bool receive(std::size_t rank, std::size_t peer, const Step& step, Cursor& cursor) {
    auto& wire = wires_[peer * n_ + rank];
    if (wire.empty()) return false;
    Message message = wire.front();
    if (message.place.slice.count != step.at.slice.count) {
      fail(name(rank) + " expects " + std::to_string(step.at.slice.count) + " elements from " +
           name(peer) + " and gets " + std::to_string(message.place.slice.count));
      return false;
    }
    if (options_.wire == ProofOptions::Wire::kInPlace) {
      const auto now = symbols(peer, message.place);
      message.symbols.assign(now.begin(), now.end());
    }
    heard_[rank] |= message.heard;
    write(rank, step, message.symbols);
    wire.pop_front();
    ++cursor.done;
    return true;
  }

  bool do_local(std::size_t rank, const Step& step, Cursor& cursor) {
    if (step.verb == Verb::kPreScale) {
      for (Symbol& symbol : symbols(rank, step.at)) {
        if (symbol.ranks.count() > 1) fail(name(rank) + " pre-scales what is no contribution");
        ++symbol.pre_scaled;
      }
      check_not_lent(rank, step.at);
    } else if (step.from.slice.count != step.at.slice.count) {
      fail(name(rank) + " copies or adds places of unequal lengths");
    } else if (step.from.buffer == collectives::Buffer::kFeedback) {
      feed_back(rank, step);
    } else if (step.verb == Verb::kEncode) {
      encode(rank, step);
    } else {
      const auto from = symbols(rank, step.from);
      write(rank, step, {from.begin(), from.end()});
    }
    ++cursor.done;
    return true;
  }

  void feed_back(std::size_t rank, const Step& step) {
    if (step.from.slice != step.at.slice) fail(name(rank) + " feeds back another element's loss");
    for (Symbol& symbol : symbols(rank, step.at)) {
      if (symbol.ranks.count() > 1) fail(name(rank) + " feeds back to what is no contribution");
      if (symbol.pre_scaled != (requests_[rank].pre_scales ? 1 : 0)) {
        fail(name(rank) + " feeds back before it scales");
      }
      ++symbol.fed_back;
    }
    check_not_lent(rank, step.at);
  }

  void encode(std::size_t rank, const Step& step) {
    const auto from = symbols(rank, step.from);
    std::vector<Symbol> encoded(from.begin(), from.end());
    for (std::size_t i = 0; i < encoded.size(); ++i) {
      if ((encoded[i].ranks.count() == n_) != step.last) {
        fail(name(rank) + " takes a part for the whole, or the whole for a part");
      }
      encoded[i].encoding = ++encoding_count_;
      ++encodings_[rank][step.from.slice.offset + i];
    }
    write(rank, step, encoded);
  }

  void write(std::size_t rank, const Step& step, const std::vector<Symbol>& from) {
    if (step.at.buffer == collectives::Buffer::kInput) fail(name(rank) + " writes to its input");
    check_not_lent(rank, step.at);
    const bool adds =
        step.verb == Verb::kReduce || step.verb == Verb::kAdd || step.verb == Verb::kDecodeAdd;
    const auto to = symbols(rank, step.at);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = adds ? sum(rank, to[i], from[i], step.last) : from[i];
    }
  }

  Symbol sum(std::size_t rank, Symbol to, const Symbol& from, bool last) {
    const Ranks twice = to.ranks & from.ranks;
    if (twice.any()) fail(name(rank) + " adds the contribution of " + first(twice) + " 2 times");
    if (to.index != from.index) fail(name(rank) + " adds elements that do not belong together");
    if (to.pre_scaled != from.pre_scaled) fail(name(rank) + " adds what was pre-scaled in part");
    if (to.fed_back != from.fed_back) fail(name(rank) + " adds what was fed back to in part");
    to.ranks |= from.ranks;
    to.encoding = 0;
    to.scaled += from.scaled + (last ? 1 : 0);
    return to;
  }

  std::string first(const Ranks& ranks) const {
    std::size_t rank = 0;
    while (rank + 1 < n_ && !ranks.test(rank)) ++rank;
    return name(rank);
  }

  void check_not_lent(std::size_t rank, const Place& place) {
    if (options_.wire != ProofOptions::Wire::kInPlace) return;
    for (std::size_t peer = 0; peer < n_; ++peer) {
      for (const Message& message : wires_[rank * n_ + peer]) {
        const Slice& lent = message.place.slice;
        const bool apart = message.place.buffer != place.buffer ||
                           lent.offset + lent.count <= place.slice.offset ||
                           place.slice.offset + place.slice.count <= lent.offset;
        if (!apart) {
          fail(name(rank) + " overwrites elements that " + name(peer) + " has not taken yet");
        }
      }
    }
  }

  void check_all_done() {
    for (const Turn& turn : turns_) {
      if (finished(turn)) continue;
      fail(name(turn.rank) + " waits for ever in lane " + std::to_string(turn.lane) + " at step " +
           std::to_string(cursors_[turn.rank][turn.lane].done));
    }
    for (std::size_t wire = 0; wire < wires_.size(); ++wire) {
      if (wires_[wire].empty()) continue;
      fail(name(wire % n_) + " never takes a message of " + name(wire / n_));
    }
  }

  void check_result() {
    for (std::size_t rank = 0; rank < n_; ++rank) {
      if (requests_[rank].collective == Collective::kBarrier) check_has_heard_of_all(rank);
      const auto expected = promises(requests_, rank);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i]) check_symbol(rank, i, *expected[i]);
      }
      if (requests_[rank].codec != Codec::kIdentity && n_ > 1) check_encoding(rank);
    }
  }

  // All ranks end with the bits of one encoding, and each rank has lost of each element once, so
  // that what is lost replaces what was fed back.
  void check_encoding(std::size_t rank) {
    for (std::size_t i = 0; i < requests_[rank].count; ++i) {
      const std::string where = " element " + std::to_string(i);
      if (encodings_[rank][i] != 1) {
        fail(name(rank) + " encodes" + where + " " + std::to_string(encodings_[rank][i]) +
             " times");
      }
      const Symbol& symbol = memory_[rank][0][i];
      if (symbol.encoding == 0) fail(name(rank) + " ends with what was not encoded in" + where);
      if (symbol.encoding != memory_[0][0][i].encoding) {
        fail(name(rank) + " ends with other bits than rank 0 in" + where);
      }
      if (symbol.fed_back != (requests_[rank].feeds_back ? 1 : 0)) {
        fail(name(rank) + " ends fed back " + std::to_string(symbol.fed_back) + " times in" +
             where);
      }
    }
  }

  void check_has_heard_of_all(std::size_t rank) {
    for (std::size_t other = 0; other < n_; ++other) {
      if (!heard_[rank].test(other)) fail(name(rank) + " leaves without word of " + name(other));
    }
  }

  void check_symbol(std::size_t rank, std::size_t element, const Promise& promise) {
    const Symbol& symbol = memory_[rank][0][element];
    const std::string where = " in element " + std::to_string(element);
    for (std::size_t other = 0; other < n_; ++other) {
      const bool wanted = !promise.rank || *promise.rank == other;
      if (symbol.ranks.test(other) != wanted) {
        fail(name(rank) + " ends with the contribution of " + name(other) + " " +
             (wanted ? "0 times, not once" : "and should not") + where);
      }
    }
    if (symbol.index != promise.index) fail(name(rank) + " ends with another element" + where);
    const bool reduced = !promise.rank;
    if (symbol.scaled != (reduced && n_ > 1 ? 1 : 0)) {
      fail(name(rank) + " ends scaled " + std::to_string(symbol.scaled) + " times" + where);
    }
    if (symbol.pre_scaled != (reduced && requests_[rank].pre_scales ? 1 : 0)) {
      fail(name(rank) + " ends pre-scaled " + std::to_string(symbol.pre_scaled) + " times" + where);
    }
  }

  const std::vector<Plan>& plans_;
  const std::vector<PlanRequest>& requests_;
  const ProofOptions& options_;
  std::size_t n_;
  std::mt19937_64 random_;
  std::vector<Memory> memory_;               // By rank.
  std::vector<Ranks> heard_;                 // By rank.
  std::vector<std::vector<int>> encodings_;  // [rank][element]: how often.
  std::size_t encoding_count_ = 0;
  std::vector<std::vector<Cursor>> cursors_;  // [rank][lane]
  std::vector<Turn> turns_;                   // Of lanes that are not finished.
  std::vector<std::deque<Message>> wires_;    // [from * n + to]
  std::optional<std::string> flaw_;
};

}  // namespace

std::optional<std::string> find_flaw(const std::vector<Plan>& plans,
                                     const std::vector<PlanRequest>& requests,
                                     const ProofOptions& options) {
  return Proof(plans, requests, options).run();
}

}  // namespace rota::testing
