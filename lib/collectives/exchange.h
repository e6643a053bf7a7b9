// What ranks that share memory do without messages: all say on their board where their values are,
// each reduces a slice of everybody's, where it lies, and all say that they have. A few bytes
// travel with the post itself, and then that is all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/operation.h"
#include "transport/board.h"

namespace rota::collectives {

class Exchange {
 public:
  enum class Turn : std::uint8_t {
    kNone,  // Some rank has not come as far.
    kSome,  // Something has been done, and there is more to do.
    kDone,
  };

  // `board`: null where memory is not shared; then it makes nothing.
  explicit Exchange(transport::Board* board);

  // Whether such operations are made so, where memory is shared. They need no plan.
  static bool makes(Collective collective, Algorithm algorithm) noexcept {
    return collective == Collective::kBarrier ||
           (collective == Collective::kAllReduce && algorithm == Algorithm::kDirect);
  }
  bool makes(const Operation& operation) const noexcept {
    return board_ && makes(operation.signature.collective, operation.signature.algorithm);
  }

  // `operation` is lent until step() says kDone. Requires makes(operation). Throws Error kNoMemory.
  void start(const Operation& operation);

  // Never blocks, and comes back after some 100 KiB a rank. Throws Error kMismatch, kPeerLost,
  // kNoMemory.
  Turn step();

  // Of an unfinished one; empty while it is this rank's turn.
  std::optional<Wait> waiting() const noexcept;

 private:
  enum class Phase : std::uint8_t { kMeets, kReduces, kWaits };
  struct Ends {  // A rank's contribution to the segment, and where it wants the result.
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    double factor = 1;
  };
  struct Where;  // What a post says of many bytes.

  std::size_t element_bytes() const noexcept { return operation_->reducer->element_bytes(); }
  std::size_t bytes() const noexcept { return operation_->signature.count * element_bytes(); }
  bool travels_with_post() const noexcept;
  Slice share() const noexcept;
  std::size_t offset_of(Slice run) const noexcept;
  std::size_t put_values(transport::Board::Content& content) const noexcept;
  std::size_t put_place(transport::Board::Content& content) const noexcept;
  void post();
  bool meet();
  void compare_with(std::size_t rank) const;
  bool agree_on_memory();
  bool all_are_done() noexcept;
  void begin_share() noexcept;
  void stage_from(std::size_t offset);
  void fetch_results() noexcept;
  template <class F>
  std::size_t for_others_shares(F copy) const;
  Ends own_ends() const noexcept;
  Ends reach(std::size_t rank, std::uint64_t from, std::uint64_t to, double factor) const;
  bool any_factor() const noexcept;
  void add_posts() const noexcept;
  void reduce_piece() noexcept;
  void reduce_among_many(Slice piece) const noexcept;
  void reduce_block(std::size_t chunk, Slice block) const noexcept;

  transport::Board* board_;
  const Operation* operation_ = nullptr;
  Phase phase_ = Phase::kMeets;
  bool is_staged_ = false;  // Some rank's values are where others do not reach them.
  Slice segment_;         // What is under way: all or, where it is staged, as much as a stage has.
  Slice rest_;            // Of the own share of it.
  std::size_t seen_ = 0;  // Ranks that have come as far, from the first one on.
  std::vector<Ends> ends_;  // By rank.
  std::vector<const transport::Post*> posts_;
};

}  // namespace rota::collectives
