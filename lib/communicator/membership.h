// A rank's place in its job, which all of its communicators share: what is known of the others, and
// the way to the launcher.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <rota/error.h>

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

  bool has_coordinator() const noexcept { return client_.has_value(); }

  // These say what they can and never fail. `key` and `text` are of the operation that waits.
  // A rank that aborts, and blames nobody, after it has heard the job's first cause repeats that.
  void report_waiting(std::size_t peer, const std::string& key, const std::string& text) noexcept;
  void report_resumed() noexcept;
  void abort(ErrorCode code, std::optional<std::size_t> blamed, const std::string& text) noexcept;

 private:
  std::size_t rank_;
  std::mutex mutex_;  // Of all that follows.
  std::unique_ptr<rendezvous::Host> host_;
  std::optional<rendezvous::Client> client_;
  std::shared_ptr<Board> board_;
  std::vector<std::optional<std::string>> departures_;  // By rank.
  std::optional<Error> cause_;
};

}  // namespace rota
