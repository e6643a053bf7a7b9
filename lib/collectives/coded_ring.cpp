// The ring of an all-reduce by a codec: partial sums travel encoded and are added decoded; a
// finished chunk is encoded once, by its owner, and goes on from rank to rank as it came. So all
// ranks end with the same bits, the owner too: it keeps what it has sent.
#include <algorithm>

#include "base/assert.h"
#include "collectives/algorithms.h"
#include "kernels/codings.h"

namespace rota::collectives {
namespace {

// A piece is on its way while the next one is encoded. In a first-level cache's reach when it comes
// to be sent, and long enough for the wire not to wait for us.
constexpr std::size_t kPieceCount = 64 * 1024;
// Of a chunk. A plan should not grow with the values.
constexpr std::size_t kMostPieces = 64;

std::vector<Slice> pieces_of(Slice chunk, std::size_t grain) {
  const std::size_t least = std::max(kPieceCount, (chunk.count + kMostPieces - 1) / kMostPieces);
  const std::size_t length = (least + grain - 1) / grain * grain;
  std::vector<Slice> pieces;
  for (std::size_t at = 0; at < chunk.count; at += length) {
    pieces.push_back({chunk.offset + at, std::min(length, chunk.count - at)});
  }
  return pieces;
}

class CodedRing {
 public:
  explicit CodedRing(const PlanRequest& request)
      : request_(request),
        n_(request.world_size),
        next_((request.rank + 1) % n_),
        previous_((request.rank + n_ - 1) % n_),
        plan_(request.rank) {}

  Plan all_reduce() {
    for (const Slice& piece : chunk(1)) {
      bring(piece);
      send(piece, false);
    }
    for (std::size_t hop = 1; hop < n_; ++hop) {
      const bool last = hop + 1 == n_;
      for (const Slice& piece : chunk(hop + 1)) {
        bring(piece);
        plan_.receive(previous_, coded_at(piece));
        plan_.decode_add(values_at(piece), last);
        send(piece, last);
      }
    }
    for (std::size_t hop = 1; hop < n_; ++hop) gather(hop);
    return plan_.build();
  }

 private:
  // The pieces of the chunk that this rank sends in that hop, and that comes back to it in that
  // hop of the second time round.
  std::vector<Slice> chunk(std::size_t hop) const {
    const std::size_t index = (request_.rank + 2 * n_ - hop) % n_;
    const std::size_t grain = kernels::coded_grain(request_.codec);
    return pieces_of(piece_of({0, request_.count}, index, n_, grain), grain);
  }

  void bring(const Slice& piece) {
    contribute(plan_, request_, piece);
    if (request_.feeds_back) plan_.add({Buffer::kFeedback, piece}, values_at(piece), false);
  }

  // What is finished is kept as the others will have it.
  void send(const Slice& piece, bool finished) {
    plan_.encode(values_at(piece), finished);
    plan_.send(next_, coded_at(piece));
    if (finished) plan_.decode(values_at(piece));
  }

  void gather(std::size_t hop) {
    for (const Slice& piece : chunk(hop)) {
      plan_.receive(previous_, coded_at(piece));
      if (hop + 1 < n_) plan_.send(next_, coded_at(piece));
      plan_.decode(values_at(piece));
    }
  }

  const PlanRequest& request_;
  std::size_t n_;
  std::size_t next_;
  std::size_t previous_;
  PlanBuilder plan_;
};

}  // namespace

Plan coded_ring_plan(const PlanRequest& request) {
  ROTA_ASSERT(request.collective == Collective::kAllReduce);
  if (request.world_size > 1) return CodedRing(request).all_reduce();
  // What is sent to nobody is not encoded, and what was not lost not fed back.
  PlanBuilder plan(request.rank);
  contribute(plan, request, {0, request.count});
  return plan.build();
}

}  // namespace rota::collectives
