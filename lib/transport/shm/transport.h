// Ranks of one host, or threads of one process, over memory that they share.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "transport/shm/channel.h"
#include "transport/shm/domain.h"
#include "transport/transport.h"

namespace rota::transport::shm {

class Transport final : public transport::Transport {
 public:
  // Of ranks that each have an arena of their own, and that errors call by `names`. Every rank must
  // have made its own before any of them sends. Throws Error kNoMemory.
  Transport(const std::shared_ptr<Domain>& domain, std::size_t rank,
            std::vector<std::size_t> names);

  // Of some of them: `arena` is rank `rank`'s. Throws Error kMismatch where the meeting's places
  // are none.
  Transport(std::shared_ptr<Domain> domain, std::shared_ptr<memory::Arena> arena, std::size_t rank,
            const Meeting& meeting);
  ~Transport() override;

  std::string_view name() const noexcept override { return "shm"; }
  transport::Channel& channel(std::size_t peer) noexcept override { return channels_[peer]; }
  Manner manner() const noexcept override { return {.looks_at_memory = true, .naps = true}; }
  SharedMemory* shared_memory() noexcept override { return &shared_; }
  void rest(base::Duration at_most) override;
  void wake() noexcept override {}  // A rest is over before it could be ended.
  bool ends_by_itself(std::size_t) const noexcept override { return false; }
  bool has_left(std::size_t peer) const noexcept override;
  std::unique_ptr<Fabric> found(const Site& site) override;
  Block allocate(std::size_t bytes) override { return arena_->allocate(bytes); }
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;  // Through the channels' rings.
  void begin_abort(std::size_t rank) noexcept override;
  void abort(const Cause& cause) noexcept override;
  bool broken() const noexcept override { return abort_word().is_set(); }
  std::optional<std::size_t> aborting() const noexcept override { return abort_word().writer(); }
  std::optional<Cause> aborted() override { return abort_word().cause(); }

  std::size_t rank() const noexcept { return shared_.rank; }
  void set_doorbell(std::size_t peer, Doorbell& doorbell) noexcept {
    channels_[peer].set_doorbell(doorbell);
  }
  Rings& rings(std::size_t rank) noexcept { return controls_[rank]->rings; }

  const std::shared_ptr<Domain>& domain() const noexcept { return domain_; }
  const std::shared_ptr<memory::Arena>& arena() const noexcept { return arena_; }
  std::size_t arena_index() const noexcept { return arena_index_; }

 private:
  const AbortWord& abort_word() const noexcept { return controls_[0]->abort_word; }

  std::shared_ptr<Domain> domain_;
  std::shared_ptr<memory::Arena> arena_;
  std::size_t arena_index_;
  std::vector<ControlPage*> controls_;  // Index = rank; rank 0's has the abort word.
  SharedMemory shared_;
  bool is_first_to_abort_ = false;
  std::deque<Channel> channels_;  // Index = peer; the own rank's is never used.
};

// Of the rank of `site.own` and those of its island, whose arenas these are, in order. Throws Error
// kNoMemory, kSystem.
std::unique_ptr<Transport> meet(const Site& site, std::vector<os::Fd> arenas);

// As transport::Join, where all ranks are of one island.
std::unique_ptr<transport::Transport> join(const Site& site, Lent lent, const CallTerms& terms,
                                           base::TimePoint deadline);

}  // namespace rota::transport::shm
