// First proves the order of the steps, then runs the plans symbolically in one order.
#include "testing/plan_prover.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "kernels/codings.h"
#include "testing/plan_conflicts.h"
#include "testing/plan_order.h"
#include "testing/promises.h"

namespace rota::testing {
namespace {

using collectives::Buffer;
using collectives::Place;
using collectives::Plan;
using collectives::PlanRequest;
using collectives::Step;
using collectives::Verb;
using Kind = collectives::Lane::Kind;

using Ranks = std::bitset<64>;

std::string name(std::size_t rank) { return "rank " + std::to_string(rank); }

// Returns the number of elements in each buffer of a rank.
std::array<std::size_t, collectives::kBufferCount> sizes_of(const Plan& plan,
                                                            const PlanRequest& request) {
  return {values_count(request), input_count(request),
          plan.scratch_count,    request.feeds_back ? request.count : 0,
          plan.coded_count,      plan.staging_count};
}

bool overlap(const Place& a, const Place& b) {
  return a.buffer == b.buffer && a.slice.offset < b.slice.offset + b.slice.count &&
         b.slice.offset < a.slice.offset + a.slice.count;
}

// Describes what is wrong with a step's use of the codec, if anything is. Coded values are divided
// only between grains: coded_grain() elements that a codec encodes together. So a place must begin
// with a grain. Only encode and decode steps know the coded format.
std::optional<std::string> find_bad_coding(const Step& step, const PlanRequest& request) {
  const bool encodes = step.verb == Verb::kEncode;
  const bool decodes = step.verb == Verb::kDecode || step.verb == Verb::kDecodeAdd;
  const bool travels = step.verb == Verb::kSend || step.verb == Verb::kReceive;
  const bool at_coded = step.at.buffer == Buffer::kCoded;
  const bool from_coded = step.from.buffer == Buffer::kCoded;
  if ((at_coded && !encodes && !travels) || (!at_coded && encodes) || from_coded != decodes) {
    return name(request.rank) + " takes values for what is coded, or the other way round";
  }
  if (!at_coded && !from_coded) return std::nullopt;
  const Slice& coded = at_coded ? step.at.slice : step.from.slice;
  if (coded.count == 0 || coded.offset % kernels::coded_grain(request.codec) == 0) {
    return std::nullopt;
  }
  return name(request.rank) + " begins within a grain of what is coded";
}

// Describes an error of a single step, if there is one.
std::optional<std::string> find_bad_step(const Plan& plan, const PlanRequest& request) {
  const auto sizes = sizes_of(plan, request);
  for (const Step& step : plan.steps) {
    for (const Place& place : {step.at, step.from}) {
      const std::size_t size = sizes[static_cast<std::size_t>(place.buffer)];
      if (place.slice.offset <= size && place.slice.count <= size - place.slice.offset) continue;
      return name(request.rank) + " leaves a buffer";
    }
    if (overlap(step.at, step.from)) return name(request.rank) + " copies or adds in one place";
    if (step.verb != Verb::kSend && step.at.buffer == Buffer::kInput && step.at.slice.count > 0) {
      return name(request.rank) + " writes to its input";
    }
    if (auto flaw = find_bad_coding(step, request)) return flaw;
  }
  return std::nullopt;
}

// The value of an element: the sum of the elements `index` of these ranks.
struct Symbol {
  Ranks ranks;
  std::uint32_t index = ~std::uint32_t{0};  // Unwritten memory: the index of no element.
  std::uint32_t encoding = 0;  // Number of the encoding whose bits these are; 0: changed since.
  std::uint8_t scaled = 0;
  std::uint8_t pre_scaled = 0;
  std::uint8_t fed_back = 0;
};

// Runs each step as a whole, in the order of the plans. Requires that find_bad_step found nothing.
class SymbolicRun {
 public:
  SymbolicRun(const std::vector<Plan>& plans, const std::vector<PlanRequest>& requests,
              const PlanOrder& order)
      : requests_(requests), order_(order), n_(plans.size()), memory_(n_), encodings_(n_) {
    for (std::size_t rank = 0; rank < n_; ++rank) {
      const auto sizes = sizes_of(plans[rank], requests[rank]);
      for (std::size_t i = 0; i < sizes.size(); ++i) memory_[rank][i].resize(sizes[i]);
      encodings_[rank].resize(requests[rank].count);
      auto& start = memory_[rank][memory_[rank][1].empty() ? 0 : 1];
      for (std::size_t i = 0; i < start.size(); ++i) {
        start[i].ranks.set(rank);
        start[i].index = static_cast<std::uint32_t>(i);
      }
    }
  }

  std::optional<std::string> find_flaw() {
    for (const std::uint32_t number : order_.one_order()) {
      if (!flaw_) run(number);
    }
    if (!flaw_) check_result();
    return flaw_;
  }

 private:
  using Memory = std::array<std::vector<Symbol>, collectives::kBufferCount>;

  void fail(const std::string& text) {
    if (!flaw_) flaw_ = text;
  }

  std::span<Symbol> symbols(std::size_t rank, const Place& place) {
    auto& buffer = memory_[rank][static_cast<std::size_t>(place.buffer)];
    return std::span(buffer).subspan(place.slice.offset, place.slice.count);
  }

  void run(std::uint32_t number) {
    const Step& step = *order_.node(number).step;
    const PlanOrder::Lane& lane = order_.lane_of(number);
    if (lane.kind == Kind::kReceives) {
      receive(lane.rank, lane.peer, step, *order_.node(order_.other_end(number)).step);
    } else if (is_local(lane.kind)) {
      do_local(lane.rank, step);
    }
  }

  void receive(std::size_t rank, std::size_t peer, const Step& step, const Step& sent) {
    if (sent.at.slice.count != step.at.slice.count) {
      return fail(name(rank) + " expects " + std::to_string(step.at.slice.count) +
                  " elements from " + name(peer) + " and gets " +
                  std::to_string(sent.at.slice.count));
    }
    if ((sent.at.buffer == Buffer::kCoded) != (step.at.buffer == Buffer::kCoded)) {
      return fail(name(rank) + " takes what " + name(peer) + " has coded for values");
    }
    write(rank, step, symbols(peer, sent.at));
  }

  void do_local(std::size_t rank, const Step& step) {
    if (step.verb == Verb::kPreScale) {
      pre_scale(rank, step);
    } else if (step.from.slice.count != step.at.slice.count) {
      fail(name(rank) + " copies or adds places of unequal lengths");
    } else if (step.from.buffer == Buffer::kFeedback) {
      feed_back(rank, step);
    } else if (step.verb == Verb::kEncode) {
      encode(rank, step);
    } else {
      write(rank, step, symbols(rank, step.from));
    }
  }

  void pre_scale(std::size_t rank, const Step& step) {
    for (Symbol& symbol : symbols(rank, step.at)) {
      if (symbol.ranks.count() > 1) fail(name(rank) + " pre-scales what is no contribution");
      ++symbol.pre_scaled;
    }
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
  }

  void encode(std::size_t rank, const Step& step) {
    write(rank, step, symbols(rank, step.from));
    std::size_t index = step.from.slice.offset;
    for (Symbol& encoded : symbols(rank, step.at)) {
      if ((encoded.ranks.count() == n_) != step.last) {
        fail(name(rank) + " takes a part for the whole, or the whole for a part");
      }
      encoded.encoding = ++encoding_count_;
      ++encodings_[rank][index++];
    }
  }

  void write(std::size_t rank, const Step& step, std::span<const Symbol> from) {
    const bool adds =
        step.verb == Verb::kReduce || step.verb == Verb::kAdd || step.verb == Verb::kDecodeAdd;
    const auto to = symbols(rank, step.at);
    if (!adds) {
      std::copy(from.begin(), from.end(), to.begin());
      return;
    }
    for (std::size_t i = 0; i < to.size(); ++i) add(rank, to[i], from[i], step.last);
  }

  void add(std::size_t rank, Symbol& to, const Symbol& from, bool last) {
    const Ranks twice = to.ranks & from.ranks;
    if (twice.any()) fail(name(rank) + " adds the contribution of " + first(twice) + " 2 times");
    if (to.index != from.index) fail(name(rank) + " adds elements that do not belong together");
    if (to.pre_scaled != from.pre_scaled) fail(name(rank) + " adds what was pre-scaled in part");
    if (to.fed_back != from.fed_back) fail(name(rank) + " adds what was fed back to in part");
    to.ranks |= from.ranks;
    to.encoding = 0;
    to.scaled = static_cast<std::uint8_t>(to.scaled + from.scaled + (last ? 1 : 0));
  }

  std::string first(const Ranks& ranks) const {
    std::size_t rank = 0;
    while (rank + 1 < n_ && !ranks.test(rank)) ++rank;
    return name(rank);
  }

  void check_result() {
    for (std::size_t rank = 0; rank < n_; ++rank) {
      const auto expected = promises(requests_, rank);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i]) check_symbol(rank, i, *expected[i]);
      }
      if (requests_[rank].codec != Codec::kIdentity && n_ > 1) check_encoding(rank);
    }
  }

  // Checks that all ranks end with the bits of one encoding. Each rank must lose something of each
  // element exactly once, so that the new loss replaces the loss that was fed back.
  void check_encoding(std::size_t rank) {
    for (std::size_t i = 0; i < requests_[rank].count && !flaw_; ++i) {
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

  void check_symbol(std::size_t rank, std::size_t element, const Promise& promise) {
    const Symbol& symbol = memory_[rank][0][element];
    const bool reduced = !promise.rank;
    const Ranks wanted = reduced ? ~Ranks{} >> (64 - n_) : Ranks{}.set(*promise.rank);
    const int scaled = reduced && n_ > 1 ? 1 : 0;
    const int pre_scaled = reduced && requests_[rank].pre_scales ? 1 : 0;
    if (symbol.ranks == wanted && symbol.index == promise.index && symbol.scaled == scaled &&
        symbol.pre_scaled == pre_scaled) {
      return;
    }
    const std::string where = " in element " + std::to_string(element);
    if ((wanted & ~symbol.ranks).any()) {
      fail(name(rank) + " ends with the contribution of " + first(wanted & ~symbol.ranks) +
           " 0 times, not once" + where);
    }
    if ((symbol.ranks & ~wanted).any()) {
      fail(name(rank) + " ends with the contribution of " + first(symbol.ranks & ~wanted) +
           " and should not" + where);
    }
    if (symbol.index != promise.index) fail(name(rank) + " ends with another element" + where);
    if (symbol.scaled != scaled) {
      fail(name(rank) + " ends scaled " + std::to_string(symbol.scaled) + " times" + where);
    }
    fail(name(rank) + " ends pre-scaled " + std::to_string(symbol.pre_scaled) + " times" + where);
  }

  const std::vector<PlanRequest>& requests_;
  const PlanOrder& order_;
  std::size_t n_;
  std::vector<Memory> memory_;               // Index = rank.
  std::vector<std::vector<int>> encodings_;  // [rank][element]: number of encodings.
  std::uint32_t encoding_count_ = 0;
  std::optional<std::string> flaw_;
};

}  // namespace

std::optional<std::string> find_flaw(const std::vector<Plan>& plans,
                                     const std::vector<PlanRequest>& requests) {
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    if (auto flaw = find_bad_step(plans[rank], requests[rank])) return flaw;
  }
  const PlanOrder order(plans);
  if (order.endless_wait()) return order.endless_wait();
  if (auto flaw = find_conflict(order, requests)) return flaw;
  return SymbolicRun(plans, requests, order).find_flaw();
}

}  // namespace rota::testing
