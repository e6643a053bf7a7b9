// Ranks of one host, or threads of one process, over memory that they share.
#pragma once
#include <deque>
#include <memory>

#include "transport/shm/channel.h"
#include "transport/shm/domain.h"
#include "transport/transport.h"

namespace rota::transport::shm {

class Transport final : public transport::Transport {
 public:
  // Of the ranks of a job, each with an arena of its own. Every rank must have made its own before
  // any of them sends. Throws Error kNoMemory.
  Transport(const std::shared_ptr<Domain>& domain, std::size_t rank);

  // Of some of them: `arena` is rank `rank`'s. Throws Error kMismatch where the meeting's places
  // are none.
  Transport(std::shared_ptr<Domain> domain, std::shared_ptr<memory::Arena> arena, std::size_t rank,
            const Meeting& meeting);

  transport::Channel& channel(std::size_t peer) noexcept override { return channels_[peer]; }
  Board* board() noexcept override { return &board_; }
  void rest(base::Duration at_most) override;
  void wake() noexcept override {}  // A rest is over before it could be ended.
  bool ends_by_itself() const noexcept override { return false; }
  Block allocate(std::size_t bytes) override { return arena_->allocate(bytes); }
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;  // Through the channels' rings.
  void abort(const Cause& cause) noexcept override;
  bool broken() const noexcept override;
  std::optional<Cause> aborted() override;

  const std::shared_ptr<Domain>& domain() const noexcept { return domain_; }
  const std::shared_ptr<memory::Arena>& arena() const noexcept { return arena_; }
  std::size_t arena_index() const noexcept { return arena_index_; }

 private:
  std::shared_ptr<Domain> domain_;
  std::shared_ptr<memory::Arena> arena_;
  std::size_t arena_index_;
  ControlPage* control_;
  Board board_;
  std::deque<Channel> channels_;  // Index = peer; the own rank's is never used.
};

}  // namespace rota::transport::shm
