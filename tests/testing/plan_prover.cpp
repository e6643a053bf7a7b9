// A symbolic run: lanes get turns in a random order until nobody can move any more.
#include "testing/plan_prover.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <utility>

namespace rota::testing {
namespace {

using collectives::Collective;
using collectives::Lane;
using collectives::Plan;
using collectives::PlanRequest;
using collectives::Step;
using collectives::Verb;

// What a chunk holds: how often each rank's contribution is in it.
struct Symbol {
  std::vector<int> times;
  int scaled = 0;
};

struct Message {
  std::uint32_t chunk;
  Symbol symbol;  // Buffered only.
};

struct Cursor {
  std::uint32_t done = 0;
  bool started = false;
};

class Proof {
 public:
  Proof(const std::vector<Plan>& plans, const PlanRequest& request, const ProofOptions& options)
      : plans_(plans),
        request_(request),
        options_(options),
        n_(plans.size()),
        random_(options.seed) {}

  std::optional<std::string> run() {
    check_chunks();
    begin();
    while (!flaw_ && round()) {
    }
    if (!flaw_) check_all_done();
    if (!flaw_) check_result();
    return flaw_;
  }

 private:
  void fail(const std::string& text) {
    if (!flaw_) flaw_ = text;
  }
  static std::string name(std::size_t rank) { return "rank " + std::to_string(rank); }

  void check_chunks() {
    for (std::size_t rank = 0; rank < n_; ++rank) {
      if (plans_[rank].chunks != plans_[0].chunks)
        fail(name(rank) + " cuts other chunks than rank 0");
    }
    std::size_t covered = 0;
    for (const Slice& chunk : plans_[0].chunks) {
      if (chunk.offset != covered) fail("the chunks leave a gap or overlap");
      covered += chunk.count;
    }
    if (covered != request_.count) fail("the chunks do not cover the values");
  }

  void begin() {
    const std::size_t chunks = plans_[0].chunks.size();
    symbols_.assign(n_, std::vector<Symbol>(chunks, Symbol{std::vector<int>(n_, 0), 0}));
    cursors_.resize(n_);
    for (std::size_t rank = 0; rank < n_; ++rank) {
      cursors_[rank].resize(plans_[rank].lanes.size());
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        if (holds_at_start(rank, chunk)) symbols_[rank][chunk].times[rank] = 1;
      }
    }
  }

  bool holds_at_start(std::size_t rank, std::size_t chunk) const {
    if (request_.collective == Collective::kAllGather) return chunk == rank;
    if (request_.collective == Collective::kBroadcast) return rank == request_.root;
    return true;
  }

  // Gives some lanes a turn, in a random order, so that some run far ahead of others. False when
  // none of them all can move any more.
  bool round() {
    std::vector<std::pair<std::size_t, std::size_t>> turns;
    for (std::size_t rank = 0; rank < n_; ++rank) {
      for (std::size_t lane = 0; lane < cursors_[rank].size(); ++lane)
        turns.emplace_back(rank, lane);
    }
    std::shuffle(turns.begin(), turns.end(), random_);
    bool moved = false;
    for (const auto& [rank, lane] : turns) {
      if (random_() % 2 == 0) moved |= turn(rank, lane);
    }
    for (const auto& [rank, lane] : turns) {
      if (!moved) moved = turn(rank, lane);
    }
    return moved;
  }

  bool turn(std::size_t rank, std::size_t lane_index) {
    const Lane& lane = plans_[rank].lanes[lane_index];
    Cursor& cursor = cursors_[rank][lane_index];
    if (cursor.done == lane.step_count) return false;
    const Step& step = plans_[rank].steps[lane.first_step + cursor.done];
    const bool may_start =
        step.after_count == 0 || cursors_[rank][step.after_lane].done >= step.after_count;
    if (!cursor.started && !may_start) return false;
    return lane.sends ? send(rank, lane, step, cursor) : receive(rank, lane, step, cursor);
  }

  bool send(std::size_t rank, const Lane& lane, const Step& step, Cursor& cursor) {
    auto& wire = wires_[{rank, lane.peer}];
    if (!cursor.started) {
      wire.push_back({step.chunk, symbols_[rank][step.chunk]});
      cursor.started = true;
    } else if (options_.wire == ProofOptions::Wire::kInPlace && !wire.empty()) {
      return false;  // Not taken yet.
    } else {
      cursor = {cursor.done + 1, false};
    }
    return true;
  }

  bool receive(std::size_t rank, const Lane& lane, const Step& step, Cursor& cursor) {
    auto& wire = wires_[{lane.peer, rank}];
    if (wire.empty()) return false;
    const Message message = wire.front();
    if (message.chunk != step.chunk) {
      fail(name(rank) + " expects chunk " + std::to_string(step.chunk) + " from " +
           name(lane.peer) + " and gets chunk " + std::to_string(message.chunk));
    }
    check_not_lent(rank, step.chunk);
    const Symbol& symbol = options_.wire == ProofOptions::Wire::kInPlace
                               ? symbols_[lane.peer][message.chunk]
                               : message.symbol;
    apply(symbols_[rank][step.chunk], symbol, step);
    wire.pop_front();
    ++cursor.done;
    return true;
  }

  void check_not_lent(std::size_t rank, std::uint32_t chunk) {
    if (options_.wire != ProofOptions::Wire::kInPlace || plans_[rank].chunks[chunk].count == 0)
      return;
    for (std::size_t peer = 0; peer < n_; ++peer) {
      for (const Message& message : wires_[{rank, peer}]) {
        if (message.chunk == chunk) {
          fail(name(rank) + " overwrites chunk " + std::to_string(chunk) + " that " + name(peer) +
               " has not taken yet");
        }
      }
    }
  }

  void apply(Symbol& to, const Symbol& from, const Step& step) const {
    for (std::size_t i = 0; i < n_; ++i) {
      if (request_.collective == Collective::kBarrier) {
        to.times[i] = std::max(to.times[i], from.times[i]);  // Having heard twice is no harm.
      } else {
        to.times[i] = from.times[i] + (step.verb == Verb::kReduce ? to.times[i] : 0);
      }
    }
    to.scaled = from.scaled + (step.verb == Verb::kReduce ? to.scaled + (step.last ? 1 : 0) : 0);
  }

  void check_all_done() {
    for (std::size_t rank = 0; rank < n_; ++rank) {
      for (std::size_t lane = 0; lane < cursors_[rank].size(); ++lane) {
        if (cursors_[rank][lane].done < plans_[rank].lanes[lane].step_count) {
          fail(name(rank) + " waits for ever in lane " + std::to_string(lane) + " at step " +
               std::to_string(cursors_[rank][lane].done));
        }
      }
    }
    for (const auto& [ends, wire] : wires_) {
      if (!wire.empty()) fail(name(ends.second) + " never takes a message of " + name(ends.first));
    }
  }

  void check_result() {
    const bool bare = request_.collective == Collective::kBarrier;
    for (std::size_t rank = 0; rank < n_; ++rank) {
      for (std::size_t chunk = 0; chunk < plans_[rank].chunks.size(); ++chunk) {
        if (!bare && plans_[rank].chunks[chunk].count == 0) continue;
        if (request_.collective == Collective::kReduceScatter && chunk != rank) continue;
        check_symbol(rank, chunk);
      }
    }
  }

  void check_symbol(std::size_t rank, std::size_t chunk) {
    const Symbol& symbol = symbols_[rank][chunk];
    for (std::size_t i = 0; i < n_; ++i) {
      const int expected = expected_times(chunk, i);
      if (symbol.times[i] != expected) {
        fail(name(rank) + " ends with the contribution of " + name(i) + " " +
             std::to_string(symbol.times[i]) + " times in chunk " + std::to_string(chunk) +
             ", not " + std::to_string(expected) + " times");
      }
    }
    const bool reduces = request_.collective == Collective::kAllReduce ||
                         request_.collective == Collective::kReduceScatter;
    const int expected_scales = reduces && n_ > 1 ? 1 : 0;
    if (request_.collective != Collective::kBarrier && symbol.scaled != expected_scales) {
      fail(name(rank) + " ends with chunk " + std::to_string(chunk) + " scaled " +
           std::to_string(symbol.scaled) + " times");
    }
  }

  int expected_times(std::size_t chunk, std::size_t contributor) const {
    if (request_.collective == Collective::kAllGather) return contributor == chunk ? 1 : 0;
    if (request_.collective == Collective::kBroadcast) return contributor == request_.root ? 1 : 0;
    return 1;
  }

  const std::vector<Plan>& plans_;
  const PlanRequest& request_;
  const ProofOptions& options_;
  std::size_t n_;
  std::mt19937_64 random_;
  std::vector<std::vector<Symbol>> symbols_;  // [rank][chunk]
  std::vector<std::vector<Cursor>> cursors_;  // [rank][lane]
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Message>> wires_;
  std::optional<std::string> flaw_;
};

}  // namespace

std::optional<std::string> find_flaw(const std::vector<Plan>& plans, const PlanRequest& request,
                                     const ProofOptions& options) {
  return Proof(plans, request, options).run();
}

}  // namespace rota::testing
