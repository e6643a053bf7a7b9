// The launcher's side of the rendezvous, as a machine without a clock, a socket or a thread: it is
// told what ranks say and when they end, and leaves what is to be sent in its outbox.
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
  std::size_t rank = 0;  // To whom.
  Message message;
  bool with_descriptors = false;  // A kWelcome, with which the job's descriptors go.
};

// Reads what `rank` sent. Bytes that are no message, or none that a rank may send, read as a kAbort
// with kBadData: a rank that talks nonsense has failed.
Message read_from_rank(std::size_t rank, std::size_t world_size, std::span<const std::byte> bytes);

class Coordinator {
 public:
  // `job` is what every rank is told, apart from its rank.
  explicit Coordinator(Job job);

  // A key that is put twice holds the last value. A kGet may name in `blamed` the rank that is to
  // put the key: then that rank's departure ends the wait.
  void on_message(std::size_t rank, const Message& message, base::TimePoint now);

  // The process of `rank` ended; `how` is what others are told: "exited with code 0". The first
  // that ends without having left is told to all, as it is missed; every other one, and who leaves,
  // to those who wait for him: what all ranks are told when all of them go grows with the world.
  void on_departure(std::size_t rank, const std::string& how);

  // Breaks the job for a reason that no rank has.
  void abort(ErrorCode error, const std::string& why);

  // Whether the ranks can agree on a step to stop after; and has them do it.
  bool can_stop() const { return !first_cause_ && agreement_.is_possible(); }
  void stop();

  // What was wrong with the last caller who was turned away, for those who wait in vain.
  void note_stranger(const std::string& why) { stranger_ = why; }

  // Ends the waits whose time is over.
  void on_time(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // In the order in which it is to be sent.
  std::vector<Outgoing> take_outbox();

  bool has_joined(std::size_t rank) const { return ranks_[rank].joined; }

  // What each welcome has the mark of. Ranks that are lent descriptors get it as one of these; of
  // the others, who has another text or none gets it behind the welcome, in pieces.
  const std::string& table_text() const noexcept { return table_text_; }

 private:
  // What a rank has been in for a while, waiting.
  struct Operation {
    std::string key;  // Never empty.
    std::string text;
    std::size_t number = 0;  // Counts reports, to tell which came later.
  };

  struct Rank {
    bool joined = false;
    std::optional<std::string> departure;  // How it left or ended.
    std::optional<Operation> operation;
    std::optional<std::size_t> waiting_for;  // Another rank, for a while already.
    std::set<std::string> barriers;          // That it has come to.
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
  void break_job(Message cause, std::optional<std::size_t> teller);
  void depart(std::size_t rank, const std::string& how, bool is_in_order);
  void tell_departure(std::size_t listener, std::size_t departed);

  void send(std::size_t rank, Message message);
  void reply(std::size_t rank, const Message& request, const std::string& value);
  void refuse(std::size_t rank, const Message& request, ErrorCode error, const std::string& text);
  void fail(const Waiting& waiting, ErrorCode error, const std::string& why,
            std::optional<std::size_t> blamed);
  void fail_for_want_of(const Waiting& waiting, std::size_t missed);
  void fail_all_in_vain();
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
  bool is_missed_told_ = false;  // Of the first that ended without having left.
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<Waiting>> gets_;      // By key, as is the next.
  std::map<std::string, std::vector<Waiting>> barriers_;  // None of them empty.
  StopAgreement agreement_;
  bool is_stop_settled_ = false;
  std::vector<Waiting> held_;           // Until it is: a kTraining of each of them.
  std::optional<Message> first_cause_;  // The kAborted that everybody gets.
  std::string stranger_;                // What was wrong with the last.
  std::size_t report_count_ = 0;        // Of operations.
  std::vector<Outgoing> outbox_;
};

}  // namespace rota::rendezvous
