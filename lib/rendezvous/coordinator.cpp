// The launcher's side of the rendezvous, as a machine without a clock, a socket or a thread.
#include "rendezvous/coordinator.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace rota::rendezvous {
namespace {

constexpr std::size_t kMostNamed = 8;

// Of a rank's words in a sentence of ours, which has to fit into a message.
constexpr std::size_t kMostQuotedBytes = 1024;

bool may_come_from_rank(const Message& message, std::size_t world_size) {
  if (message.type > MessageType::kLeave) return false;
  if (message.blamed && *message.blamed >= world_size) return false;
  if (message.type == MessageType::kAbort && !message.error) return false;
  return message.type != MessageType::kWaiting || message.blamed.has_value();
}

std::string name_of(std::size_t rank) { return "rank " + std::to_string(rank); }

std::string name_of(const Message& request) {
  return (request.type == MessageType::kBarrier ? "barrier \"" : "get \"") +
         request.key.substr(0, kMostQuotedBytes) + "\"";
}

// A wait asked for by a rank, which may have asked for any length.
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
                 " bytes over its rendezvous descriptor that are no message of this version of "
                 "rota: link it with the same rota as the others, and write nothing else there";
  return failure;
}

Coordinator::Coordinator(Job job)
    : job_(std::move(job)), ranks_(job_.table.rows.size()), agreement_(job_.table.rows.size()) {
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
      return depart(rank, "left");
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
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    const bool is_answered =
        waiting.request.type == MessageType::kGet && waiting.request.key == message.key;
    if (is_answered) reply(waiting.rank, waiting.request, message.text);
    return is_answered;
  });
}

void Coordinator::on_join(std::size_t rank, const Message& message) {
  if (ranks_[rank].joined) {
    return refuse(rank, message, ErrorCode::kMismatch,
                  name_of(rank) + " has joined already: one program a rank can, and once");
  }
  ranks_[rank].joined = true;
  if (first_cause_) return refuse(rank, message, ErrorCode::kAborted, first_cause_->text);
  job_.rank = rank;
  outbox_.push_back(
      {rank, {.type = MessageType::kWelcome, .id = message.id, .text = encode(job_)}, true});
  for (std::size_t other = 0; other < ranks_.size(); ++other) {
    if (other == rank || !ranks_[other].departure) continue;
    send(rank, {.type = MessageType::kDeparted,
                .blamed = static_cast<std::uint32_t>(other),
                .text = *ranks_[other].departure});
  }
}

void Coordinator::on_get(std::size_t rank, const Message& message, base::TimePoint now) {
  if (first_cause_) return refuse(rank, message, ErrorCode::kAborted, first_cause_->text);
  const auto value = values_.find(message.key);
  if (value != values_.end()) {
    return reply(rank, message, value->second);
  }
  waiting_.push_back({rank, message, end_of_wait(message, now)});
  if (const auto departed = departed_member(waiting_.back())) fail_all_that_need(*departed);
}

void Coordinator::on_barrier(std::size_t rank, const Message& message, base::TimePoint now) {
  if (first_cause_) return refuse(rank, message, ErrorCode::kAborted, first_cause_->text);
  if (present_at(message.key).contains(rank)) {
    return refuse(rank, message, ErrorCode::kInvalidArgument,
                  name_of(rank) + " waits at " + name_of(message) + " already");
  }
  waiting_.push_back({rank, message, end_of_wait(message, now)});
  if (absent_from(message.key).empty()) {
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      const bool is_here =
          waiting.request.type == MessageType::kBarrier && waiting.request.key == message.key;
      if (is_here) reply(waiting.rank, waiting.request, "");
      return is_here;
    });
    return;
  }
  if (const auto departed = departed_member(waiting_.back())) fail_all_that_need(*departed);
}

// Ranks that are in the same operation describe it in the same words, or they would wait for each
// other until the deadline.
void Coordinator::on_waiting(std::size_t rank, const Message& message) {
  ranks_[rank].waiting_for = message.blamed;
  ranks_[rank].operation.reset();
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
  // Whose deadline passed first sees one wait; who else waits for whom is known here.
  const bool is_timeout = cause.error == ErrorCode::kTimeout;
  if (is_timeout) follow_waits(cause);
  break_job(std::move(cause), is_timeout ? std::nullopt : std::optional(rank));
}

// To the rank that waits for nobody. Where they wait in a circle, nobody is more to blame.
void Coordinator::follow_waits(Message& timeout) const {
  std::set<std::size_t> seen;
  std::size_t rank = *timeout.blamed;
  std::string text = timeout.text;
  while (const auto next = ranks_[rank].waiting_for) {
    if (!seen.insert(rank).second) return;
    text += "; " + name_with_host(rank) + " waits for " + name_with_host(*next);
    rank = *next;
  }
  timeout.blamed = static_cast<std::uint32_t>(rank);
  timeout.text = text.substr(0, 4 * kMostQuotedBytes);
}

void Coordinator::abort(ErrorCode error, const std::string& why) {
  if (first_cause_) return;
  break_job({.type = MessageType::kAborted, .error = error, .text = why}, std::nullopt);
}

// One that has been told the last step already is told it again before it is let in: it may have
// come when nobody knew it.
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

// Tells all but `teller`, who knows.
void Coordinator::break_job(Message cause, std::optional<std::size_t> teller) {
  first_cause_ = std::move(cause);
  waiting_.clear();  // What follows answers them all.
  held_.clear();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (rank != teller && ranks_[rank].joined && !ranks_[rank].departure) {
      send(rank, *first_cause_);
    }
  }
}

void Coordinator::on_departure(std::size_t rank, const std::string& how) {
  ROTA_ASSERT(rank < ranks_.size());
  depart(rank, how);
}

void Coordinator::depart(std::size_t rank, const std::string& how) {
  ranks_[rank].operation.reset();
  ranks_[rank].waiting_for.reset();
  if (ranks_[rank].departure) return;  // It had left, and now its process ended.
  ranks_[rank].departure = how;
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.rank == rank; });
  std::erase_if(held_, [&](const Waiting& held) { return held.rank == rank; });
  for (std::size_t other = 0; other < ranks_.size(); ++other) {
    if (other == rank || !ranks_[other].joined || ranks_[other].departure) continue;
    send(other,
         {.type = MessageType::kDeparted, .blamed = static_cast<std::uint32_t>(rank), .text = how});
  }
  fail_all_that_need(rank);
  agreement_.on_departure(rank);
  settle_stop();
}

void Coordinator::on_time(base::TimePoint now) {
  // All who have waited long enough are still present for the texts of each other's errors.
  for (const Waiting& waiting : waiting_) {
    if (waiting.deadline <= now) time_out(waiting);
  }
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.deadline <= now; });
}

std::optional<base::TimePoint> Coordinator::next_deadline() const {
  std::optional<base::TimePoint> next;
  for (const Waiting& waiting : waiting_) {
    if (!next || waiting.deadline < *next) next = waiting.deadline;
  }
  return next;
}

std::vector<Outgoing> Coordinator::take_outbox() { return std::exchange(outbox_, {}); }

void Coordinator::send(std::size_t rank, Message message) {
  outbox_.push_back({rank, std::move(message), false});
}

void Coordinator::reply(std::size_t rank, const Message& request, const std::string& value) {
  send(rank, {.type = MessageType::kReply, .id = request.id, .text = value});
}

// After an abort, what anybody asks for is answered with the first cause.
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

void Coordinator::fail_all_that_need(std::size_t departed) {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    const bool is_hopeless = needs(waiting, departed);
    if (is_hopeless) {
      fail(waiting, ErrorCode::kPeerLost,
           "cannot be completed: " + name_of(departed) + " " + *ranks_[departed].departure,
           departed);
    }
    return is_hopeless;
  });
}

void Coordinator::time_out(const Waiting& waiting) {
  const std::string after = "timed out after " + base::to_text(waiting.request.timeout) + ": ";
  if (waiting.request.type == MessageType::kBarrier) {
    const auto absent = absent_from(waiting.request.key);
    const std::string stranger =
        stranger_.empty() ? "" : "; the last who called in vain: " + stranger_;
    return fail(waiting, ErrorCode::kTimeout, after + name_absent(absent) + stranger,
                *absent.begin());
  }
  const auto blamed = waiting.request.blamed;
  fail(waiting, ErrorCode::kTimeout,
       after + (blamed ? name_of(*blamed) + " has not put it" : "nobody has put it"), blamed);
}

std::string Coordinator::name_with_host(std::size_t rank) const {
  return name_of(rank) + " (" + job_.table.rows[rank].host + ")";
}

std::set<std::size_t> Coordinator::present_at(const std::string& barrier) const {
  std::set<std::size_t> present;
  for (const Waiting& waiting : waiting_) {
    if (waiting.request.type == MessageType::kBarrier && waiting.request.key == barrier) {
      present.insert(waiting.rank);
    }
  }
  return present;
}

std::set<std::size_t> Coordinator::absent_from(const std::string& barrier) const {
  const auto present = present_at(barrier);
  std::set<std::size_t> absent;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!present.contains(rank)) absent.insert(rank);
  }
  return absent;
}

std::string Coordinator::name_absent(const std::set<std::size_t>& absent) const {
  std::string text = std::to_string(absent.size()) + " of " + std::to_string(ranks_.size()) +
                     (absent.size() == 1 ? " ranks is absent: " : " ranks are absent: ");
  std::size_t named = 0;
  for (const std::size_t rank : absent) {
    if (named == kMostNamed) {
      return text + " and " + std::to_string(absent.size() - named) + " more";
    }
    text += (named++ == 0 ? "" : ", ") + name_of(rank);
    if (!ranks_[rank].joined) text += " (has not joined)";  // Nobody has ended: see needs().
  }
  return text;
}

// The lowest rank is taken to be right; of those who differ from it, the last to say so is blamed.
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
    return ranks_[rank].operation->text.substr(0, kMostQuotedBytes);
  };
  return Message{.type = MessageType::kAborted,
                 .error = ErrorCode::kMismatch,
                 .blamed = static_cast<std::uint32_t>(*other),
                 .text = name_of(*first) + " is in " + text_of(*first) + ", " + name_of(*other) +
                         " in " + text_of(*other) +
                         ": every rank must make the same calls in the same order"};
}

// Whether what `waiting` waits for cannot come now that `departed` has gone.
bool Coordinator::needs(const Waiting& waiting, std::size_t departed) const {
  if (waiting.rank == departed) return false;
  if (waiting.request.type == MessageType::kBarrier) return true;
  if (waiting.request.blamed) return *waiting.request.blamed == departed;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (rank != waiting.rank && !ranks_[rank].departure) return false;  // It may still put the key.
  }
  return true;
}

std::optional<std::size_t> Coordinator::departed_member(const Waiting& waiting) const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].departure && needs(waiting, rank)) return rank;
  }
  return std::nullopt;
}

}  // namespace rota::rendezvous
