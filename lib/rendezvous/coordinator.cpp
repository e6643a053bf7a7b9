// Implements the coordinator's side of the rendezvous: a state machine without a clock, a socket or
// a thread.
#include "rendezvous/coordinator.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/utf8.h"

namespace rota::rendezvous {
namespace {

constexpr std::size_t kMostNamed = 8;

// The largest number of bytes of a rank's text in an error text, which must fit into a message.
constexpr std::size_t kMostQuotedBytes = 1024;

// The largest number of bytes of the rank table's text in one message. The text is sent in pieces.
constexpr std::size_t kPieceBytes = 32 * std::size_t{1024};

bool may_come_from_rank(const Message& message, std::size_t world_size) {
  if (message.type > MessageType::kLeave) return false;
  if (message.blamed && *message.blamed >= world_size) return false;
  if (message.type == MessageType::kAbort && !message.error) return false;
  return message.type != MessageType::kWaiting || message.blamed.has_value();
}

std::string name_of(std::size_t rank) { return "rank " + std::to_string(rank); }

std::string name_of(const Message& request) {
  return (request.type == MessageType::kBarrier ? "barrier \"" : "get \"") +
         std::string(base::cut(request.key, kMostQuotedBytes)) + "\"";
}

// Returns the deadline of a wait. A rank can ask for any length: the limit keeps the sum from
// overflowing.
base::TimePoint end_of_wait(const Message& request, base::TimePoint now) {
  constexpr base::Duration kLongest = std::chrono::hours(24 * 365);
  return now + std::clamp(request.timeout, base::Duration(0), kLongest);
}

}  // namespace

Message read_from_rank(std::size_t rank, std::size_t world_size, std::span<const std::byte> bytes) {
  auto message = decode(bytes);
  if (message && may_come_from_rank(*message, world_size)) return *std::move(message);
  Message failure;
  failure.type = MessageType::kAbort;
  failure.error = ErrorCode::kBadData;
  failure.text = name_of(rank) + " sent " + std::to_string(bytes.size()) +
                 " bytes over its rendezvous descriptor that are not a message of this version of "
                 "rota: link it with the same rota as the other ranks, and write nothing else to "
                 "the descriptor";
  return failure;
}

Coordinator::Coordinator(Job job)
    : job_(std::move(job)),
      table_text_(encode_table(job_.table, job_.domains)),
      table_mark_(mark_of(table_text_)),
      ranks_(job_.table.rows.size()),
      agreement_(job_.table.rows.size()) {
  ROTA_ASSERT(!ranks_.empty());
}

void Coordinator::on_message(std::size_t rank, const Message& message, base::TimePoint now) {
  ROTA_ASSERT(rank < ranks_.size());
  switch (message.type) {
    case MessageType::kJoin:
      return on_join(rank, message);
    case MessageType::kPut:
      return on_put(message);
    case MessageType::kGet:
      return on_get(rank, message, now);
    case MessageType::kBarrier:
      return on_barrier(rank, message, now);
    case MessageType::kAbort:
      return on_abort(rank, message);
    case MessageType::kTraining:
      return on_training(rank, message);
    case MessageType::kTrained:
      agreement_.on_trained(rank, message.step);
      return settle_stop();
    case MessageType::kBegun:
      agreement_.on_begun(rank, message.step);
      return settle_stop();
    case MessageType::kLeave:
      return depart(rank, "left", true);
    case MessageType::kWaiting:
      return on_waiting(rank, message);
    case MessageType::kResumed:
      ranks_[rank].waiting_for.reset();
      return ranks_[rank].operation.reset();
    default:
      return;
  }
}

void Coordinator::on_put(const Message& message) {
  values_[message.key] = message.text;
  const auto answered = gets_.extract(message.key);
  if (answered.empty()) return;
  for (const Waiting& get : answered.mapped()) reply(get.rank, get.request, message.text);
}

void Coordinator::on_join(std::size_t rank, const Message& message) {
  if (ranks_[rank].joined) {
    return refuse(rank, message, ErrorCode::kMismatch,
                  name_of(rank) +
                      " has joined already: only one program can join as this rank, and only once");
  }
  ranks_[rank].joined = true;
  if (first_cause_) return refuse(rank, message, ErrorCode::kAborted, first_cause_->text);
  job_.rank = rank;
  outbox_.push_back(
      {rank,
       {.type = MessageType::kWelcome, .id = message.id, .text = encode(job_, table_mark_)},
       true});
  if (!job_.hands_descriptors && message.text != encode(table_mark_)) send_table(rank);
  if (!departed_.empty()) tell_departure(rank, *departed_.begin());  // One missing rank is enough.
}

void Coordinator::send_table(std::size_t rank) {
  for (std::size_t at = 0; at < table_text_.size(); at += kPieceBytes) {
    send(rank, {.type = MessageType::kWelcome, .text = table_text_.substr(at, kPieceBytes)});
  }
}

void Coordinator::on_get(std::size_t rank, const Message& message, base::TimePoint now) {
  if (first_cause_) return refuse(rank, message, ErrorCode::kAborted, first_cause_->text);
  const auto value = values_.find(message.key);
  if (value != values_.end()) {
    return reply(rank, message, value->second);
  }
  const Waiting get{rank, message, end_of_wait(message, now)};
  if (const auto missed = missed_by(get)) return fail_for_want_of(get, *missed);
  gets_[message.key].push_back(get);
}

void Coordinator::on_barrier(std::size_t rank, const Message& message, base::TimePoint now) {
  if (first_cause_) return refuse(rank, message, ErrorCode::kAborted, first_cause_->text);
  if (ranks_[rank].barriers.contains(message.key)) {
    return refuse(rank, message, ErrorCode::kInvalidArgument,
                  name_of(rank) + " already waits at " + name_of(message));
  }
  const Waiting arrival{rank, message, end_of_wait(message, now)};
  if (const auto missed = missed_by(arrival)) return fail_for_want_of(arrival, *missed);
  ranks_[rank].barriers.insert(message.key);
  std::vector<Waiting>& arrivals = barriers_[message.key];
  arrivals.push_back(arrival);
  if (arrivals.size() < ranks_.size()) return;
  for (const Waiting& each : arrivals) {
    ranks_[each.rank].barriers.erase(message.key);
    reply(each.rank, each.request, "");
  }
  barriers_.erase(message.key);
}

// Compares the texts of operations. Ranks in the same operation must describe it by the same text.
// Otherwise the ranks would wait for each other until the deadline.
void Coordinator::on_waiting(std::size_t rank, const Message& message) {
  ranks_[rank].waiting_for = message.blamed;
  ranks_[rank].operation.reset();
  if (ranks_[*message.blamed].departure) tell_departure(rank, *message.blamed);
  if (message.key.empty() || first_cause_) return;
  ranks_[rank].operation = Operation{message.key, message.text, ++report_count_};
  if (auto mismatch = find_mismatch(message.key)) break_job(*std::move(mismatch), std::nullopt);
}

void Coordinator::on_abort(std::size_t rank, const Message& message) {
  if (first_cause_) return;
  Message cause = message;
  cause.type = MessageType::kAborted;
  cause.id = 0;
  if (!cause.blamed) cause.blamed = static_cast<std::uint32_t>(rank);
  // The rank whose deadline passes first knows only its own wait; the coordinator knows all waits.
  const bool is_timeout = cause.error == ErrorCode::kTimeout;
  if (is_timeout) follow_waits(cause);
  break_job(std::move(cause), is_timeout ? std::nullopt : std::optional(rank));
}

// Blames the rank at the end of the chain of waits, which waits for no rank. If the ranks wait in a
// circle, it blames a rank that left without them; if none did, no rank is more to blame than
// another.
void Coordinator::follow_waits(Message& timeout) const {
  std::set<std::size_t> seen;
  std::size_t rank = *timeout.blamed;
  std::string text = timeout.text;
  while (const auto next = ranks_[rank].waiting_for) {
    if (!seen.insert(rank).second) {
      const auto absent = absent_from_operation(rank);
      if (!absent) return;
      text += "; " + name_with_host(*absent) + " " + *ranks_[*absent].departure;
      rank = *absent;
      break;
    }
    text += "; " + name_with_host(rank) + " waits for " + name_with_host(*next);
    rank = *next;
  }
  timeout.blamed = static_cast<std::uint32_t>(rank);
  timeout.text = text.substr(0, 4 * kMostQuotedBytes);
}

// Returns a rank that has left, if all others wait in the operation of `waiting`. A library of
// collectives does not tell for which rank it waits, but there is no other.
std::optional<std::size_t> Coordinator::absent_from_operation(std::size_t waiting) const {
  const auto& own = ranks_[waiting].operation;
  const auto is_in_it = [&](const Rank& rank) {
    return rank.departure || (rank.operation && rank.operation->key == own->key);
  };
  if (!own || departed_.empty() || !std::ranges::all_of(ranks_, is_in_it)) return std::nullopt;
  return *departed_.begin();
}

void Coordinator::abort(ErrorCode error, const std::string& why) {
  if (first_cause_) return;
  break_job({.type = MessageType::kAborted, .error = error, .text = why}, std::nullopt);
}

// If the last step is known, the rank gets kStopAfter before kReply. Some ranks get kStopAfter
// twice. A rank that joined late missed the kStopAfter to all ranks, and the coordinator does not
// record which ranks missed it.
void Coordinator::on_training(std::size_t rank, const Message& message) {
  if (first_cause_) return refuse(rank, message, ErrorCode::kAborted, first_cause_->text);
  if (!agreement_.may_train(rank)) {
    held_.push_back({rank, message, {}});
    return;
  }
  if (const auto step = agreement_.settle()) {
    send(rank, {.type = MessageType::kStopAfter, .step = *step});
  }
  reply(rank, message, "");
}

void Coordinator::stop() {
  for (const std::size_t rank : agreement_.begin()) send(rank, {.type = MessageType::kStopAsked});
}

void Coordinator::settle_stop() {
  const auto step = agreement_.settle();
  if (!step || std::exchange(is_stop_settled_, true)) return;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].joined || ranks_[rank].departure) continue;
    send(rank, {.type = MessageType::kStopAfter, .step = *step});
  }
  for (const Waiting& held : std::exchange(held_, {})) on_training(held.rank, held.request);
}

// Informs all ranks except `teller`, which knows the cause.
void Coordinator::break_job(Message cause, std::optional<std::size_t> teller) {
  first_cause_ = std::move(cause);
  erase_waits([](const Waiting&) { return true; });  // The kAborted below answers all waits.
  held_.clear();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (rank != teller && ranks_[rank].joined && !ranks_[rank].departure) {
      send(rank, *first_cause_);
    }
  }
}

void Coordinator::on_departure(std::size_t rank, const std::string& how) {
  ROTA_ASSERT(rank < ranks_.size());
  depart(rank, how, false);
}

void Coordinator::depart(std::size_t rank, const std::string& how, bool is_in_order) {
  ranks_[rank].operation.reset();
  ranks_[rank].waiting_for.reset();
  if (ranks_[rank].departure) return;  // The rank had left; now its process ended.
  ranks_[rank].departure = how;
  departed_.insert(rank);
  const bool is_for_all = !is_in_order && !std::exchange(is_missed_told_, true);
  erase_waits([&](const Waiting& waiting) { return waiting.rank == rank; });
  std::erase_if(held_, [&](const Waiting& held) { return held.rank == rank; });
  for (std::size_t other = 0; other < ranks_.size(); ++other) {
    const bool is_there = ranks_[other].joined && !ranks_[other].departure;
    if (is_there && (is_for_all || ranks_[other].waiting_for == rank)) tell_departure(other, rank);
  }
  fail_all_waiting();
  agreement_.on_departure(rank);
  settle_stop();
}

void Coordinator::tell_departure(std::size_t listener, std::size_t departed) {
  send(listener, {.type = MessageType::kDeparted,
                  .blamed = static_cast<std::uint32_t>(departed),
                  .text = *ranks_[departed].departure});
}

void Coordinator::on_time(base::TimePoint now) {
  const auto is_late = [&](const Waiting& waiting) { return waiting.deadline <= now; };
  // First sends all errors and then erases the waits. So in the error texts, a rank whose wait ends
  // now still counts as present.
  for (const auto* waits : {&gets_, &barriers_}) {
    for (const auto& [key, waiting] : *waits) {
      for (const Waiting& each : waiting) {
        if (is_late(each)) time_out(each);
      }
    }
  }
  erase_waits(is_late);
}

std::optional<base::TimePoint> Coordinator::next_deadline() const {
  std::optional<base::TimePoint> next;
  for (const auto* waits : {&gets_, &barriers_}) {
    for (const auto& [key, waiting] : *waits) {
      for (const Waiting& each : waiting) next = base::earlier(next, each.deadline);
    }
  }
  return next;
}

void Coordinator::erase_waits(const std::function<bool(const Waiting&)>& is_over) {
  for (auto* waits : {&gets_, &barriers_}) {
    for (auto& [key, waiting] : *waits) {
      std::erase_if(waiting, [&](const Waiting& each) {
        const bool ends = is_over(each);
        const bool is_barrier = each.request.type == MessageType::kBarrier;
        if (ends && is_barrier) ranks_[each.rank].barriers.erase(each.request.key);
        return ends;
      });
    }
    std::erase_if(*waits, [](const auto& each) { return each.second.empty(); });
  }
}

std::vector<Outgoing> Coordinator::take_outbox() { return std::exchange(outbox_, {}); }

void Coordinator::send(std::size_t rank, Message message) {
  outbox_.push_back({rank, std::move(message), false});
}

void Coordinator::reply(std::size_t rank, const Message& request, const std::string& value) {
  send(rank, {.type = MessageType::kReply, .id = request.id, .text = value});
}

// After an abort, every request is answered with the first cause.
void Coordinator::refuse(std::size_t rank, const Message& request, ErrorCode error,
                         const std::string& text) {
  Message answer{.type = MessageType::kReply, .error = error, .text = text};
  if (error == ErrorCode::kAborted) answer = *first_cause_;
  answer.id = request.id;
  send(rank, std::move(answer));
}

void Coordinator::fail(const Waiting& waiting, ErrorCode error, const std::string& why,
                       std::optional<std::size_t> blamed) {
  Message answer{.type = MessageType::kReply, .id = waiting.request.id, .error = error};
  if (blamed) answer.blamed = static_cast<std::uint32_t>(*blamed);
  answer.text = name_of(waiting.request) + " " + why;
  send(waiting.rank, std::move(answer));
}

void Coordinator::fail_for_want_of(const Waiting& waiting, std::size_t missed) {
  fail(waiting, ErrorCode::kPeerLost,
       "cannot be completed: " + name_of(missed) + " " + *ranks_[missed].departure, missed);
}

void Coordinator::fail_all_waiting() {
  erase_waits([&](const Waiting& waiting) {
    const auto missed = missed_by(waiting);
    if (missed) fail_for_want_of(waiting, *missed);
    return missed.has_value();
  });
}

void Coordinator::time_out(const Waiting& waiting) {
  const std::string after = "timed out after " + base::to_text(waiting.request.timeout) + ": ";
  if (waiting.request.type == MessageType::kBarrier) {
    const auto absent = absent_from(waiting.request.key);
    const std::string stranger =
        stranger_.empty() ? "" : "; the last refused connection: " + stranger_;
    return fail(waiting, ErrorCode::kTimeout, after + name_absent(absent) + stranger,
                absent.front());
  }
  const auto blamed = waiting.request.blamed;
  fail(waiting, ErrorCode::kTimeout,
       after + (blamed ? name_of(*blamed) + " has not put it" : "nobody has put it"), blamed);
}

std::string Coordinator::name_with_host(std::size_t rank) const {
  return name_of(rank) + " (" + job_.table.rows[rank].host + ")";
}

std::vector<std::size_t> Coordinator::absent_from(const std::string& barrier) const {
  std::vector<std::size_t> absent;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].barriers.contains(barrier)) absent.push_back(rank);
  }
  return absent;
}

std::string Coordinator::name_absent(const std::vector<std::size_t>& absent) const {
  std::string text = std::to_string(absent.size()) + " of " + std::to_string(ranks_.size()) +
                     (absent.size() == 1 ? " ranks is absent: " : " ranks are absent: ");
  std::size_t named = 0;
  for (const std::size_t rank : absent) {
    if (named == kMostNamed) {
      return text + " and " + std::to_string(absent.size() - named) + " more";
    }
    text += (named++ == 0 ? "" : ", ") + name_of(rank);
    if (!ranks_[rank].joined) text += " (has not joined)";  // It has not ended: see missed_by().
  }
  return text;
}

// Finds two ranks whose texts differ. The lowest rank counts as right. Of the ranks that differ
// from it, the last one to report is blamed.
std::optional<Message> Coordinator::find_mismatch(const std::string& operation_key) const {
  std::optional<std::size_t> first;
  std::optional<std::size_t> other;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto& operation = ranks_[rank].operation;
    if (!operation || operation->key != operation_key) continue;
    if (!first) first = rank;
    if (operation->text == ranks_[*first].operation->text) continue;
    if (!other || operation->number > ranks_[*other].operation->number) other = rank;
  }
  if (!other) return std::nullopt;
  const auto text_of = [&](std::size_t rank) {
    return std::string(base::cut(ranks_[rank].operation->text, kMostQuotedBytes));
  };
  return Message{.type = MessageType::kAborted,
                 .error = ErrorCode::kMismatch,
                 .blamed = static_cast<std::uint32_t>(*other),
                 .text = name_of(*first) + " is in " + text_of(*first) + ", but " +
                         name_of(*other) + " is in " + text_of(*other) +
                         ": every rank must make the same calls in the same order"};
}

// Returns a departed rank without which the wait cannot succeed, or nothing if it may still
// succeed.
std::optional<std::size_t> Coordinator::missed_by(const Waiting& waiting) const {
  auto missed = departed_.begin();
  if (missed != departed_.end() && *missed == waiting.rank) ++missed;
  if (missed == departed_.end()) return std::nullopt;
  if (waiting.request.type == MessageType::kBarrier) return *missed;
  const auto& blamed = waiting.request.blamed;
  if (blamed)
    return departed_.contains(*blamed) ? std::optional<std::size_t>(*blamed) : std::nullopt;
  const std::size_t gone = departed_.size() - departed_.count(waiting.rank);
  if (gone + 1 < ranks_.size()) return std::nullopt;  // Another rank may still put the key.
  return *missed;
}

}  // namespace rota::rendezvous
