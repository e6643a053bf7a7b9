// Connects ranks of one host, or threads of one process, over memory that they share.
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
  // For ranks that each have their own arena. `names` are their numbers in error texts. Every rank
  // must have made its transport before any rank sends. Throws Error kNoMemory.
  Transport(const std::shared_ptr<Domain>& domain, std::size_t rank,
            std::vector<std::size_t> names);

  // For a group that is created later. `layout` says where its ranks are. `arena` is the arena of
  // rank `rank`. Throws Error kMismatch when the layout has invalid offsets.
  Transport(std::shared_ptr<Domain> domain, std::shared_ptr<memory::Arena> arena, std::size_t rank,
            const GroupLayout& layout);
  ~Transport() override;

  std::string_view name() const noexcept override { return "shm"; }
  transport::Channel& channel(std::size_t peer) noexcept override { return channels_[peer]; }
  WaitTraits wait_traits() const noexcept override {
    return {.look = Look::kMemory, .cannot_wake = true};
  }
  SharedMemory* shared_memory() noexcept override { return &shared_; }
  void sleep(base::Duration at_most) override;
  void wake() noexcept override {}  // A sleep is too short to be ended.
  bool ends_by_itself(std::size_t) const noexcept override { return false; }
  bool has_left(std::size_t peer) const noexcept override;
  std::unique_ptr<Fabric> group_fabric(const GroupShape& shape) override;
  Block allocate(std::size_t bytes) override { return arena_->allocate(bytes); }
  std::uint64_t sent_bytes() const noexcept override;
  std::uint64_t staged_bytes() const noexcept override;  // Copied to shared memory.
  void begin_abort(std::size_t rank) noexcept override;
  void abort(const Cause& cause) noexcept override;
  bool broken() const noexcept override { return abort_word().is_set(); }
  std::optional<std::size_t> aborting() const noexcept override { return abort_word().writer(); }
  std::optional<Cause> aborted() override { return abort_word().cause(); }

  std::size_t rank() const noexcept { return shared_.rank; }
  void set_doorbell(std::size_t peer, Doorbell& doorbell) noexcept {
    channels_[peer].set_doorbell(doorbell);
  }
  DoorbellFlag& doorbell_flag(std::size_t rank) noexcept { return controls_[rank]->doorbell_flag; }

  const std::shared_ptr<Domain>& domain() const noexcept { return domain_; }
  const std::shared_ptr<memory::Arena>& arena() const noexcept { return arena_; }
  std::size_t arena_index() const noexcept { return arena_index_; }

 private:
  const AbortWord& abort_word() const noexcept { return controls_[0]->abort_word; }

  std::shared_ptr<Domain> domain_;
  std::shared_ptr<memory::Arena> arena_;
  std::size_t arena_index_;
  std::vector<ControlPage*> controls_;  // Index = rank. The page of rank 0 has the abort word.
  SharedMemory shared_;
  bool is_first_to_abort_ = false;
  std::deque<MailboxChannel> channels_;  // Index = peer. This rank's own entry is never used.
};

// Connects the rank of `shape.own` with the ranks of its domain. `arenas`: one for each of these
// ranks, in order. Throws Error kNoMemory, kSystem.
std::unique_ptr<Transport> meet(const GroupShape& shape, std::vector<os::Fd> arenas);

// Makes a rank's first transport, as transport::Join describes, if all ranks are in one domain.
std::unique_ptr<transport::Transport> join(const GroupShape& shape, Descriptors descriptors,
                                           const CallTerms& terms, base::TimePoint deadline);

}  // namespace rota::transport::shm
