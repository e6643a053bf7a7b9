// Ranks of one host, or threads of one process, over memory that they share.
#pragma once
#include <memory>
#include <vector>

#include "transport/shm/channel.h"
#include "transport/shm/domain.h"
#include "transport/transport.h"

namespace rota::transport::shm {

class Transport final : public transport::Transport {
 public:
  // Every rank must have made its own before any of them sends. Throws Error kNoMemory.
  Transport(std::shared_ptr<Domain> domain, std::size_t rank);

  transport::Channel& channel(std::size_t peer) noexcept override { return channels_[peer]; }
  void rest(base::Duration at_most) override;
  Block allocate(std::size_t bytes) override { return arena_->allocate(bytes); }
  std::uint64_t staged_bytes() const noexcept override;
  void abort(const Cause& cause) noexcept override;
  std::optional<Cause> aborted() override;

 private:
  std::shared_ptr<Domain> domain_;
  std::shared_ptr<memory::Arena> arena_;
  std::vector<Channel> channels_;  // Index = peer; the own rank's is never used.
};

}  // namespace rota::transport::shm
