// A rank's place in its job, which all of its communicators share: what is known of the others, and
// the way to the launcher.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <rota/error.h>

#include "base/time.h"
#include "rendezvous/client.h"
#include "rendezvous/host.h"

namespace rota {

// Where the ranks of a job without a launcher, threads of this process, say that they have left.
using Board = std::vector<std::atomic<bool>>;

// Ranks are those of the job. Thread-safe. Leaves the job when it is destroyed.
class Membership {
 public:
  Membership(std::size_t rank, std::size_t world_size) : rank_(rank), departures_(world_size) {}
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // `host`: the coordinator itself, where this process has it; it ends after the client has left.
  void connect(rendezvous::Client client, std::unique_ptr<rendezvous::Host> host) {
    client_ = std::move(client);
    host_ = std::move(host);
  }
  void connect(std::shared_ptr<Board> board) { board_ = std::move(board); }

  // Takes in what has been said. The job's first cause, kAborted or kMismatch, once it is broken.
  // Throws Error kSystem when the launcher is gone.
  std::optional<Error> hear();

  // How the rank ended, in words that follow its name; empty while it has not.
  std::optional<std::string> departure(std::size_t rank);

  std::size_t world_size() const noexcept { return departures_.size(); }
  bool has_coordinator() const noexcept { return client_.has_value(); }

  // Around steps that the ranks can stop after by agreement; each communicator that takes such has
  // its own pair of calls. `timeout` is of a wait for the others to agree. Throws as Client does.
  void begin_training(base::Duration timeout);
  void end_training() noexcept;

  // Before step `step`, counted from 1: whether it is to be taken. Waits while the ranks agree on
  // the last one. Throws Error kTimeout, kSystem.
  bool begin_step(std::uint64_t step, base::Duration timeout);

  // These say what they can and never fail. `key` and `text` are of the operation that waits.
  // A rank that aborts, and blames nobody, after it has heard the job's first cause repeats that.
  void report_waiting(std::size_t peer, const std::string& key, const std::string& text) noexcept;
  void report_resumed() noexcept;
  void abort(ErrorCode code, std::optional<std::size_t> blamed, const std::string& text) noexcept;

 private:
  void take_in();
  void take_in(const rendezvous::Message& notice);

  std::size_t rank_;
  std::mutex mutex_;  // Of all that follows.
  std::unique_ptr<rendezvous::Host> host_;
  std::optional<rendezvous::Client> client_;
  std::shared_ptr<Board> board_;
  std::vector<std::optional<std::string>> departures_;  // By rank.
  std::optional<Error> cause_;
  std::size_t training_count_ = 0;  // Communicators that train.
  std::uint64_t begun_ = 0;         // The last step that any of them has begun.
  bool is_stop_asked_ = false;      // None may begin one until the last step is known.
  std::optional<std::uint64_t> last_step_;
};

}  // namespace rota
