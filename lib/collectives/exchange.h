// What ranks that share memory do without messages: all say on their board where their values are,
// each reduces a slice of everybody's, where it lies, and all say that they have. A few bytes
// travel with the post itself, and then that is all.
#pragma once
#include <cstddef>
#include <cstdint>
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
    kApart,  // Some rank's values lie where others do not reach them: nobody has changed any.
  };

  // `board`: null where memory is not shared; then it makes nothing.
  explicit Exchange(transport::Board* board);

  // Whether an operation can be made so. The answer is the same on all ranks that agree about it.
  bool makes(const Operation& operation) const noexcept;

  // `operation` is lent until step() says kDone or kApart. Requires makes(operation).
  void start(const Operation& operation) noexcept;

  // Never blocks, and comes back after some 100 KiB. Throws Error kMismatch, kPeerLost.
  Turn step();

  // Of an unfinished one.
  Wait waiting() const noexcept;

 private:
  enum class Stage : std::uint8_t { kMeets, kReduces, kWaits };
  struct Ends {  // A rank's contribution, and where it wants the result.
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    double factor = 1;
  };
  struct Where;  // What a post says of many bytes.

  std::size_t bytes() const noexcept;
  bool travels_with_post() const noexcept;
  Slice share() const noexcept;
  std::size_t put_values(transport::Board::Content& content) const noexcept;
  std::size_t put_place(transport::Board::Content& content) const noexcept;
  bool meet();
  bool reach();
  bool any_factor() const noexcept;
  void add_posts() const noexcept;
  void count_sent() const noexcept;
  void reduce_piece() noexcept;
  void reduce_among_many(Slice piece) const noexcept;
  void reduce_block(std::size_t chunk, Slice block) const noexcept;

  transport::Board* board_;
  const Operation* operation_ = nullptr;
  Stage stage_ = Stage::kMeets;
  std::size_t seen_ = 0;    // Ranks that have come as far, from the first one on.
  Slice rest_;              // Of the own share.
  std::vector<Ends> ends_;  // By rank.
  std::vector<const transport::Post*> posts_;
};

}  // namespace rota::collectives
