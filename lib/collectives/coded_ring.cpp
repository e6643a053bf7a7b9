// The ring of an all-reduce with a codec. A rank sends partial sums encoded, and the next rank
// decodes and adds them. The owner of a finished chunk encodes it once, and the chunk travels from
// rank to rank unchanged. So all ranks end with the same bits. The owner too: it decodes what it
// has sent, and keeps the decoded values.
#include <algorithm>

#include "base/assert.h"
#include "collectives/algorithms.h"
#include "kernels/codings.h"

namespace rota::collectives {
namespace {

// A piece travels while the next one is encoded. In chunks of up to 16 MiB, an encoded piece has at
// most 128 KiB, so it is still in a second-level cache when it is sent. It is long enough that the
// network does not wait.
constexpr std::size_t kPieceCount = 64 * 1024;
// The largest number of pieces of a chunk: the plan must not grow with the values.
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
        plan_(request) {}

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
  // Returns the pieces of the chunk that this rank sends in hop `hop` of the first round. In hop
  // `hop` of the second round, this rank receives that chunk again, complete.
  std::vector<Slice> chunk(std::size_t hop) const {
    const std::size_t index = (request_.rank + 2 * n_ - hop) % n_;
    const std::size_t grain = kernels::coded_grain(request_.codec);
    return pieces_of(piece_of({0, request_.count}, index, n_, grain), grain);
  }

  void bring(const Slice& piece) {
    contribute(plan_, request_, piece);
    if (request_.feeds_back) plan_.add({Buffer::kFeedback, piece}, values_at(piece), false);
  }

  // This rank decodes a finished piece too, so that all ranks have the same bits.
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
  // A world of one sends nothing: nothing is encoded, nothing is lost, and no feedback is added.
  PlanBuilder plan(request);
  contribute(plan, request, {0, request.count});
  return plan.build();
}

}  // namespace rota::collectives
