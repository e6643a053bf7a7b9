// What ranks that share memory do without messages: all say by their flags where their values are,
// each reduces a slice of everybody's, where it lies, and all say that they have: an all-reduce. In
// a reduce the root alone gets the slices; in a broadcast they are all the root's. A few bytes
// travel with the post itself, and then that is all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/operation.h"
#include "collectives/running.h"
#include "collectives/shared/flags.h"
#include "collectives/shared/offer.h"
#include "collectives/shared/page_shares.h"
#include "collectives/shared/reach.h"
#include "collectives/shared/share.h"
#include "transport/channel.h"

namespace rota::collectives {

// Of Algorithm::kShared. Several may be under way at once: each has posted, and they take turns in
// the order of their posts.
class SharedRun final : public Running {
 public:
  // `channels`: as PlanRun has them. `place`: of those that may be under way together, and of
  // the method's streams, which begin at `first_stream`.
  SharedRun(Flags& flags, std::span<transport::Channel* const> channels, std::size_t place,
            std::size_t first_stream);

  // Whether so many bytes of values are in the post itself.
  static constexpr bool travels_with_post(std::size_t bytes) noexcept { return bytes <= 48; }

  // One that goes by this rank's stage holds all streams, as there is one stage;
  // another one holds that of its place.
  void add_streams(const Operation& operation, Streams& streams) const noexcept override;

  void start(const Operation& operation) override;

  // Comes back after some 100 KiB a rank.
  Turn step() override;

  bool done() const noexcept { return phase_ == Phase::kDone; }
  std::optional<Wait> waiting() const noexcept override;  // Empty while it is this rank's turn.
  void compare_with(std::size_t peer) const override;

 private:
  enum class Phase : std::uint8_t { kMeets, kStages, kReduces, kWaits, kDone };

  const Description& call() const noexcept { return planned_->call; }
  const Reducer& reducer() const noexcept { return planned_->reducer; }
  std::size_t element_bytes() const noexcept { return reducer().element_bytes(); }
  std::size_t bytes() const noexcept { return call().count * element_bytes(); }
  std::size_t bytes_before(Slice run) const noexcept { return run.offset * element_bytes(); }
  bool gives(std::size_t rank) const noexcept;
  bool takes(std::size_t rank) const noexcept;

  Turn go_on();
  Turn wait_for_all();
  bool all_are_done() noexcept;

  // meet.cpp
  std::size_t put_values(Flags::Content& content) const noexcept;
  std::size_t put_offer(Flags::Content& content) const noexcept;
  Offer offered_by(std::size_t rank) const noexcept;
  Turn meet();
  bool all_have_posted();
  void compare(std::size_t rank, const Signature& theirs) const;
  bool all_are_reached() const;
  void add_posts() const noexcept;
  void add_posts_of_chunk(std::size_t chunk, Slice slice) const noexcept;

  // reduce.cpp
  void cut() noexcept;
  Turn begin_share();
  void reach_share_of(std::size_t rank);
  Reach own_reach() const noexcept;
  Reach reach_of(std::size_t rank, const Offer& offer) const;
  std::size_t sent_bytes(std::size_t own_bytes) const noexcept;
  std::size_t others_that_take() const noexcept;
  Turn reduce();

  // stage.cpp
  bool needs_stage(const Operation& operation) const noexcept {
    return !travels_with_post(bytes_of(operation)) && !is_reached_by_others(operation);
  }
  bool is_reached_by_others(const Operation& operation) const noexcept;
  void stage_from(std::size_t offset);
  Turn stage();
  bool all_have_staged() noexcept;
  Turn go_on_with_next_segment();
  template <class F>
  std::size_t for_others_shares(F copy) const;

  Flags* flags_;
  std::span<transport::Channel* const> channels_;
  std::uint32_t place_;
  std::uint32_t first_stream_;
  const Operation* operation_ = nullptr;
  const PlannedCollective* planned_ = nullptr;  // The operation's.
  std::uint64_t number_ = 0;                    // As the flags count.
  Phase phase_ = Phase::kDone;
  bool is_staged_ = false;  // Some rank's values are where others do not reach them.
  Slice segment_;           // What is under way: all or, where staged, as much as a stage has.
  Slice own_;               // Of it, what this rank reduces; empty before it has been cut.
  std::size_t element_shift_ = 0;
  PageShares shares_;          // Of all ranks.
  std::uint64_t awaited_ = 0;  // The segment or share, by the flags' count, that all are to do.
  std::size_t seen_ = 0;       // Ranks that have come as far, from the first one on.
  std::vector<const Post*> posts_;  // By rank.
  Share share_;
};

// What needs no messages, where all ranks share memory.
class SharedCollectives final : public Method {
 public:
  // `shared` outlives it. `channels`: as SharedRun has them.
  SharedCollectives(transport::SharedMemory& shared, std::span<transport::Channel* const> channels)
      : flags_(shared), channels_(channels.begin(), channels.end()) {}

  const Flags& flags() const noexcept { return flags_; }

  bool makes(Algorithm algorithm) const noexcept override {
    return algorithm == Algorithm::kShared;
  }
  std::span<const std::byte> memory_of_parts(std::size_t bytes) const noexcept override {
    if (SharedRun::travels_with_post(bytes)) return {};
    return flags_.memory(flags_.rank());
  }
  bool make_ready() noexcept override {
    flags_.make_ready();
    return true;
  }
  std::size_t stream_count() const noexcept override { return kMostRunning; }
  bool starts_in_order() const noexcept override { return true; }  // Posts are numbered.
  std::unique_ptr<Running> make_place(std::size_t place, std::size_t first_stream) override {
    return std::make_unique<SharedRun>(flags_, channels_, place, first_stream);
  }

 private:
  Flags flags_;
  std::vector<transport::Channel*> channels_;
};

}  // namespace rota::collectives
