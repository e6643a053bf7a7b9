// Collectives over shared memory, without messages. In an all-reduce, all ranks announce with their
// flags where their values are. Each rank reduces one slice of all ranks' values in place, and then
// announces that the slice is done. In a reduce, only the root gets the slices. In a broadcast, all
// slices come from the root. If there are few bytes, they travel in the post (the announcement)
// itself, and no other phase follows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/operation.h"
#include "collectives/running.h"
#include "collectives/shared/flags_page.h"
#include "collectives/shared/offer.h"
#include "collectives/shared/page_shares.h"
#include "collectives/shared/scatter_list.h"
#include "collectives/shared/slice_reducer.h"
#include "transport/channel.h"

namespace rota::collectives {

// A run of Algorithm::kShared. Several may be under way together: each of them has posted, and this
// rank works on one at a time, in the order of the posts.
class SharedRun final : public Running {
 public:
  // `channels`: as for PlanRun. `place`: the index of this run among the runs that may be under way
  // together. The run's stream has the same index among the method's streams. These streams begin
  // at `first_stream`.
  SharedRun(Flags& flags, std::span<transport::Channel* const> channels, std::size_t place,
            std::size_t first_stream);

  // Returns whether `bytes` bytes of values fit into the post itself.
  static constexpr bool travels_with_post(std::size_t bytes) noexcept { return bytes <= 48; }

  // An operation that uses this rank's staging buffer uses all streams, because there is one
  // buffer. Any other operation uses the stream of its place.
  void add_streams(const Operation& operation, Streams& streams) const noexcept override;

  void start(const Operation& operation) override;

  // Reduces at most 128 KiB of this rank's slice. With staging, a step may instead copy one segment
  // back from the staging buffer, and the next segment into the staging buffer.
  Turn step() override;

  bool done() const noexcept { return phase_ == Phase::kDone; }
  std::optional<Wait> waiting() const noexcept override;  // Empty while this rank reduces.
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
  ScatterCursor own_cursor() const noexcept;
  ScatterCursor cursor_of(std::size_t rank, const Offer& offer) const;
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
  const PlannedCollective* planned_ = nullptr;  // operation_->planned.
  std::uint64_t number_ = 0;                    // The number of its post.
  Phase phase_ = Phase::kDone;
  bool is_staged_ = false;  // Peers cannot access some rank's values.
  Slice segment_;           // Current elements: all; with staging, as many as fit the buffer.
  Slice own_;               // This rank's slice of the segment; empty before the cut.
  std::size_t element_shift_ = 0;
  PageShares shares_;               // The slices of all ranks.
  std::uint64_t awaited_ = 0;       // Number of the segment or slice that all ranks must finish.
  std::size_t seen_ = 0;            // Ranks 0 to seen_ - 1 have reached the awaited point.
  std::vector<const Post*> posts_;  // Index = rank.
  SliceReducer slice_reducer_;
};

// Compares this rank's operation with the header of a peer's message, if there is one. The peer
// sends messages if it runs a plan. Throws Error kMismatch.
void compare_with_message(const Operation& operation, transport::Channel& channel,
                          std::size_t peer);

// The method for collectives without messages; all ranks must share memory.
class SharedCollectives final : public Method {
 public:
  // `shared` must outlive the object. `channels`: as for SharedRun.
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
    first_stream_ = first_stream;
    return std::make_unique<SharedRun>(flags_, channels_, place, first_stream);
  }

  // The next three are for DeviceSharedCollectives, which uses the same flags and streams.
  Flags& flags() noexcept { return flags_; }
  std::span<transport::Channel* const> channels() const noexcept { return channels_; }
  std::size_t first_stream() const noexcept { return first_stream_; }

 private:
  Flags flags_;
  std::vector<transport::Channel*> channels_;
  std::size_t first_stream_ = 0;  // Known once there is a place.
};

}  // namespace rota::collectives
