// Implements a rank's side of the rendezvous. The client talks to the job's coordinator, which is
// in the launcher or in the process of one of the ranks.
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
#include "rendezvous/connection.h"
#include "rendezvous/job.h"
#include "rendezvous/message.h"

namespace rota::rendezvous {

// Threads: only one thread at a time may use a client.
class Client {
 public:
  // Makes a client of the launcher, over the descriptor that this rank inherited from the launcher.
  explicit Client(os::Fd socket)
      : connection_(std::make_unique<LocalConnection>(std::move(socket))) {}

  // Makes a client of the coordinator in the process of rank `coordinator_rank`. When that process
  // ends, next_notice() reports that rank `coordinator_rank` has departed; the other ranks may go
  // on without that rank.
  Client(std::unique_ptr<Connection> connection, std::size_t coordinator_rank) noexcept
      : connection_(std::move(connection)), coordinator_rank_(coordinator_rank) {}

  struct Welcome {
    Job job;
    // The descriptors that job.h lists. The table's descriptor is not among them.
    std::vector<os::Fd> fds;
    // The file with the table, which all ranks have that this rotarun has started. It is closed if
    // no rotarun has started this rank.
    os::Fd table_file;
  };
  // Joins the job. `own_table` is the text of the rank table that the user gave this rank; empty
  // without one. Throws Error kTimeout, kSystem (the launcher is gone or speaks another version),
  // kMismatch (this rank has joined before), and the error with which the job was aborted.
  Welcome join(base::TimePoint deadline, std::string own_table = {});

  // The next three functions throw Error:
  //   kTimeout: the text names the absent ranks;
  //   kPeerLost: a rank that is needed has ended, or the process of the coordinator has ended;
  //   kAborted, kMismatch: the job has failed; the text is the first cause;
  //   kSystem: the launcher is gone;
  //   kInvalidArgument: key and value together are larger than a message.
  // put() reads nothing. If the coordinator is gone, the next function that reads throws.
  void put(const std::string& key, const std::string& value);
  std::string get(const std::string& key, base::Duration timeout);
  void barrier(const std::string& key, base::Duration timeout);

  // Must be called before the first step. From then on, this rank must answer kStopAsked. Returns
  // whether the rank must wait before its first step until next_notice() has returned a kReply.
  // While the ranks agree on a last step, the kReply comes only after kStopAfter. `timeout`: how
  // long the rank waits. Throws Error kTimeout if the launcher does not read. If the launcher is
  // gone, next_notice() says so.
  bool ask_to_train(base::Duration timeout);

  // Returns the next kAborted (with the code of the first cause), kDeparted, kStopAsked, kStopAfter
  // or kReply to ask_to_train(), if one has come. Never blocks, and allocates nothing if none has
  // come. Throws Error kSystem if the launcher is gone.
  std::optional<Message> next_notice();

  // These reports never fail and never block. While the connection has no room for a report, the
  // report is kept, and leaves before the next message, or in a later call that reads, such as
  // next_notice(). A report whose receiver is gone is dropped. Texts are cut to a length that a
  // person will read. report_waiting() reports that this rank waits for `peer` in the operation
  // `operation_key`. All ranks in that operation must describe the operation by the same text. If
  // two texts differ, the job fails. Texts with an empty key are not compared.
  void report_waiting(std::size_t peer, const std::string& operation_key = {},
                      const std::string& operation_text = {}) noexcept;
  void report_resumed() noexcept;
  void report_begun(std::uint64_t step) noexcept;    // The answer to kStopAsked.
  void report_trained(std::uint64_t step) noexcept;  // Training ends; `step` is the last one begun.

  // These two reports may be the last messages of this rank. While the connection has no room for
  // them, both functions wait, for a second at most. What cannot be sent then is dropped.
  void abort(ErrorCode code, std::optional<std::size_t> blamed, const std::string& text) noexcept;
  void leave() noexcept;

 private:
  struct Report {
    std::vector<std::byte> bytes;
    bool is_of_waiting = false;
  };

  std::string who() const;
  void on_gone();
  void send(const Message& message, base::TimePoint deadline);
  template <class Make>
  void send_quietly(Make make) noexcept;
  bool send_reports() noexcept;  // Returns whether no report is left to be sent.
  template <class Make>
  void send_last(Make make) noexcept;
  Message call(Message request, base::TimePoint deadline);
  Message next_welcome(base::TimePoint deadline);
  os::Fd take_table_file();
  std::string take_table(std::string own_table, const TableMark& mark, base::TimePoint deadline);
  [[noreturn]] void throw_other_version() const;
  // Returns nothing if the deadline passes.
  std::optional<Message> receive(base::TimePoint deadline);
  std::optional<Message> receive_now();

  std::unique_ptr<Connection> connection_;
  std::optional<std::size_t> coordinator_rank_;  // Empty: the coordinator is in the launcher.
  bool is_coordinator_gone_ = false;
  std::uint32_t last_id_ = 0;
  std::deque<Message> notices_;
  std::deque<Report> unsent_reports_;
  std::vector<std::byte> buffer_;
  std::vector<os::Fd> fds_;  // Descriptors of the last message.
};

}  // namespace rota::rendezvous
