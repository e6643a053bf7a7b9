// A rank's membership in its job, shared by all of its communicators: what this rank knows of the
// other ranks, and the connection to the coordinator.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rota/error.h>

#include "base/time.h"
#include "rendezvous/client.h"
#include "rendezvous/coordinator_thread.h"

namespace rota {

// One flag per rank: whether the rank has left. For a job without a launcher, whose ranks are
// threads of this process.
using Board = std::vector<std::atomic<bool>>;

// Ranks are numbered as in the job. Thread-safe. The destructor leaves the job. abort() and the
// destructor wait a second at most, and only if the coordinator reads nothing.
class Membership {
 public:
  // What departure() returns for a rank that needs no other rank any more.
  static constexpr std::string_view kLeft = "left";

  Membership(std::size_t rank, std::size_t world_size) : rank_(rank), departures_(world_size) {}
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // `coordinator`: the coordinator, if it runs in this process; it ends after the client has left.
  void connect(rendezvous::Client client,
               std::unique_ptr<rendezvous::CoordinatorThread> coordinator) {
    client_ = std::move(client);
    coordinator_ = std::move(coordinator);
  }
  void connect(std::shared_ptr<Board> board) { board_ = std::move(board); }

  // Reads the notices that have arrived. Once the job is broken, returns its first cause, kAborted
  // or kMismatch. Throws Error kSystem if the launcher is gone.
  std::optional<Error> hear();

  // Returns how the rank ended, as text that follows the rank's name. Returns nothing if the rank
  // has not ended.
  std::optional<std::string> departure(std::size_t rank);

  std::size_t world_size() const noexcept { return departures_.size(); }
  bool has_coordinator() const noexcept { return client_.has_value(); }

  // These two functions enclose training steps: the ranks can agree on a step after which all of
  // them stop. Each communicator with such steps makes its own pair of calls. begin_training()
  // waits until the rank may take its first step, for `timeout` at most. Throws Error kTimeout,
  // kSystem, and the first cause once the job is broken.
  void begin_training(base::Duration timeout);
  void end_training() noexcept;

  // Called before step `step`, counted from 1. Waits while the ranks agree on the last step.
  // Returns whether the rank must take the step. Throws Error kTimeout, kSystem.
  bool begin_step(std::uint64_t step, base::Duration timeout);

  // These reports never fail; what cannot be sent is dropped. `key` and `text` describe the
  // operation that waits. If abort() blames no rank and the job's first cause is known, it blames
  // the rank of that cause.
  void report_waiting(std::size_t peer, const std::string& key, const std::string& text) noexcept;
  void report_resumed() noexcept;
  void abort(ErrorCode code, std::optional<std::size_t> blamed, const std::string& text) noexcept;

 private:
  void take_in();
  void take_in(const rendezvous::Message& notice);
  // Takes notices in until `done()` is true, and returns true; false if `timeout` passes before.
  template <class Done>
  bool take_in_until(std::unique_lock<std::mutex>& lock, base::Duration timeout, Done done);

  std::size_t rank_;
  std::mutex mutex_;  // Guards all members that follow.
  std::unique_ptr<rendezvous::CoordinatorThread> coordinator_;
  std::optional<rendezvous::Client> client_;
  std::shared_ptr<Board> board_;
  std::vector<std::optional<std::string>> departures_;  // Index = rank.
  std::optional<Error> cause_;
  std::size_t training_count_ = 0;  // Communicators that train.
  bool asks_to_train_ = false;      // The coordinator has not answered yet.
  std::uint64_t begun_ = 0;         // The last step that any communicator has begun.
  bool is_stop_asked_ = false;      // No step may begin until the last step is known.
  std::optional<std::uint64_t> last_step_;
};

}  // namespace rota
