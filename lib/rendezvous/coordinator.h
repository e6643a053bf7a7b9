// Implements the coordinator's side of the rendezvous: a state machine without a clock, a socket or
// a thread. The owner of the Coordinator passes in the messages and departures of ranks, and sends
// the messages in the outbox.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job.h"
#include "rendezvous/message.h"
#include "rendezvous/stop_agreement.h"

namespace rota::rendezvous {

struct Outgoing {
  std::size_t rank = 0;  // The receiver.
  Message message;
  bool with_descriptors = false;  // A kWelcome, which hands over the job's descriptors.
};

// Decodes what `rank` sent. Returns a kAbort with kBadData if the bytes are not a message, or are a
// message that no rank may send: a rank that sends nonsense has failed.
Message read_from_rank(std::size_t rank, std::size_t world_size, std::span<const std::byte> bytes);

class Coordinator {
 public:
  // `job` is sent to every rank, each time with the receiver's rank.
  explicit Coordinator(Job job);

  // Handles a message of `rank`. If a key is put twice, the last value counts. A kGet may name in
  // `blamed` the rank that must put the key: then that rank's departure ends the wait.
  void on_message(std::size_t rank, const Message& message, base::TimePoint now);

  // Handles the end of the process of `rank`. `how` is the text for the other ranks: "exited with
  // code 0". The first rank that ends without kLeave counts as missing, and all ranks are told. For
  // any other departure, only the ranks that wait for the departed rank are told. So the number of
  // messages at the end of a job grows with the world, not with its square.
  void on_departure(std::size_t rank, const std::string& how);

  // Aborts the job for a reason that does not come from a rank.
  void abort(ErrorCode error, const std::string& why);

  // can_stop() returns whether the ranks can agree on a step to stop after; stop() makes them
  // agree.
  bool can_stop() const { return !first_cause_ && agreement_.is_possible(); }
  void stop();

  // Notes why the last process that tried to connect was refused. The text appears when a barrier
  // times out.
  void note_stranger(const std::string& why) { stranger_ = why; }

  // Ends the waits whose deadline has passed.
  void on_time(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // Returns the messages to send, in their order, and empties the outbox.
  std::vector<Outgoing> take_outbox();

  bool has_joined(std::size_t rank) const { return ranks_[rank].joined; }

  // Returns the rank table as text; each kWelcome has its TableMark. If the coordinator hands
  // descriptors to a rank, one of them is a file with the text. Any other rank gets the text in
  // pieces after its kWelcome, unless the rank has the same text already.
  const std::string& table_text() const noexcept { return table_text_; }

 private:
  // The operation in which a rank has been waiting for a while.
  struct Operation {
    std::string key;  // Never empty.
    std::string text;
    std::size_t number = 0;  // Counts reports: a higher number came later.
  };

  struct Rank {
    bool joined = false;
    std::optional<std::string> departure;  // How the rank left or ended.
    std::optional<Operation> operation;
    std::optional<std::size_t> waiting_for;  // The peer of its last kWaiting.
    std::set<std::string> barriers;          // The barriers in which the rank waits, by key.
  };

  // A kGet or kBarrier that is not answered yet.
  struct Waiting {
    std::size_t rank = 0;
    Message request;
    base::TimePoint deadline;
  };

  void on_join(std::size_t rank, const Message& message);
  void send_table(std::size_t rank);
  void on_put(const Message& message);
  void on_get(std::size_t rank, const Message& message, base::TimePoint now);
  void on_barrier(std::size_t rank, const Message& message, base::TimePoint now);
  void on_waiting(std::size_t rank, const Message& message);
  void on_abort(std::size_t rank, const Message& message);
  void on_training(std::size_t rank, const Message& message);
  void settle_stop();
  void follow_waits(Message& timeout) const;
  std::optional<std::size_t> absent_from_operation(std::size_t waiting) const;
  void break_job(Message cause, std::optional<std::size_t> teller);
  void depart(std::size_t rank, const std::string& how, bool is_in_order);
  void tell_departure(std::size_t listener, std::size_t departed);

  void send(std::size_t rank, Message message);
  void reply(std::size_t rank, const Message& request, const std::string& value);
  void refuse(std::size_t rank, const Message& request, ErrorCode error, const std::string& text);
  void fail(const Waiting& waiting, ErrorCode error, const std::string& why,
            std::optional<std::size_t> blamed);
  void fail_for_want_of(const Waiting& waiting, std::size_t missed);
  void fail_all_waiting();
  void time_out(const Waiting& waiting);

  std::string name_with_host(std::size_t rank) const;
  std::vector<std::size_t> absent_from(const std::string& barrier) const;
  std::string name_absent(const std::vector<std::size_t>& absent) const;
  std::optional<Message> find_mismatch(const std::string& operation_key) const;
  std::optional<std::size_t> missed_by(const Waiting& waiting) const;
  void erase_waits(const std::function<bool(const Waiting&)>& is_over);

  Job job_;
  std::string table_text_;
  TableMark table_mark_;
  std::vector<Rank> ranks_;
  std::set<std::size_t> departed_;
  bool is_missed_told_ = false;  // All ranks know about the first end without kLeave.
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<Waiting>> gets_;      // By key; no list is empty.
  std::map<std::string, std::vector<Waiting>> barriers_;  // By key; no list is empty.
  StopAgreement agreement_;
  bool is_stop_settled_ = false;
  std::vector<Waiting> held_;           // The kTraining requests held until the stop is settled.
  std::optional<Message> first_cause_;  // The kAborted that every rank gets.
  std::string stranger_;                // The text of note_stranger().
  std::size_t report_count_ = 0;        // Reported operations so far.
  std::vector<Outgoing> outbox_;
};

}  // namespace rota::rendezvous
