// A rank's side of the rendezvous: it talks to the job's coordinator, which is in the launcher, or
// else in the process of one of the ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "os/fd.h"
#include "rendezvous/job.h"
#include "rendezvous/line.h"
#include "rendezvous/message.h"

namespace rota::rendezvous {

// One thread at a time.
class Client {
 public:
  // Of the launcher, over the descriptor that it left to this rank.
  explicit Client(os::Fd socket) : line_(std::make_unique<LocalLine>(std::move(socket))) {}

  // Of the process of rank `host`. When it goes, that is a notice that the rank has departed; the
  // other ranks may go on without it.
  Client(std::unique_ptr<Line> line, std::size_t host) noexcept
      : line_(std::move(line)), host_(host) {}

  struct Welcome {
    Job job;
    std::vector<os::Fd> fds;  // As job.h says; that of the table has been read.
  };
  // `own_table` is the text of the table that this rank has been given by hand; else empty. Throws
  // Error kTimeout, kSystem (the launcher is gone or speaks another version), kMismatch (this rank
  // has joined before), and what the job was aborted with.
  Welcome join(base::TimePoint deadline, std::string own_table = {});

  // All throw Error kTimeout naming who is absent, kPeerLost when somebody who is needed has ended,
  // the host included, kAborted (or kMismatch) with the first cause when the job broke, kSystem
  // when the launcher is gone, kInvalidArgument when key and value are more than a message holds.
  void put(const std::string& key, const std::string& value);
  std::string get(const std::string& key, base::Duration timeout);
  void barrier(const std::string& key, base::Duration timeout);

  // To be called before a first step; from then on this rank has to answer kStopAsked. Returns when
  // it may take that step, which is after kStopAfter where the ranks are about to agree on one.
  // Throws as these do.
  void begin_training(base::Duration timeout);

  // The next kAborted (with the code of the first cause), kDeparted, kStopAsked or kStopAfter, if
  // one has come. Never blocks, and allocates nothing while none has. Throws Error kSystem when the
  // launcher is gone.
  std::optional<Message> next_notice();

  // These say what they can and never fail: who cannot be told is gone.
  // Texts are cut to what a person will read.
  // A wait in the operation `operation_key`, which every rank that is in it describes in the same
  // words, or the job is broken. An empty key is compared with nothing.
  void report_waiting(std::size_t peer, const std::string& operation_key = {},
                      const std::string& operation_text = {}) noexcept;
  void report_resumed() noexcept;
  void report_begun(std::uint64_t step) noexcept;    // The answer to kStopAsked.
  void report_trained(std::uint64_t step) noexcept;  // The end of what begin_training began.
  void abort(ErrorCode code, std::optional<std::size_t> blamed, const std::string& text) noexcept;
  void leave() noexcept;

 private:
  std::string who() const;
  void on_gone();
  void send(const Message& message, base::TimePoint deadline);
  template <class Make>
  void send_quietly(Make make) noexcept;
  Message call(Message request, base::TimePoint deadline);
  Message next_welcome(base::TimePoint deadline);
  std::string take_lent_table(const TableMark& mark);
  std::string take_table(std::string own_table, const TableMark& mark, base::TimePoint deadline);
  [[noreturn]] void throw_other_version() const;
  // Empty at the deadline.
  std::optional<Message> receive(base::TimePoint deadline);
  std::optional<Message> receive_now();

  std::unique_ptr<Line> line_;
  std::optional<std::size_t> host_;  // None: the launcher.
  bool is_host_gone_ = false;
  std::uint32_t last_id_ = 0;
  std::deque<Message> notices_;
  std::vector<std::byte> buffer_;
  std::vector<os::Fd> fds_;  // That came with the last message.
};

}  // namespace rota::rendezvous
