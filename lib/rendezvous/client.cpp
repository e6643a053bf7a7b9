// Sends requests and waits for their answers. Messages that answer no request are kept for
// next_notice().
#include "rendezvous/client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/utf8.h"
#include "os/host.h"
#include "os/poll_set.h"

namespace rota::rendezvous {
namespace {

using base::Clock;
using base::Duration;
using base::TimePoint;

// The coordinator enforces the deadlines. After a deadline, the client waits this much longer for
// the coordinator's answer.
constexpr std::chrono::seconds kMargin{5};

// How long a message that may be the last one waits for a coordinator that does not read.
constexpr std::chrono::seconds kLastWait{1};

// The longest text for a person; the client cuts a longer text.
constexpr std::size_t kMostTextBytes = 4096;

[[noreturn]] void throw_gone() {
  throw Error(ErrorCode::kSystem, "the launcher is gone: nobody answers on this rank's descriptor");
}

[[noreturn]] void throw_answer(const Message& message) {
  const bool is_echo =
      message.type == MessageType::kAborted && message.error != ErrorCode::kMismatch;
  const ErrorCode code = is_echo ? ErrorCode::kAborted : message.error.value();
  if (message.blamed) throw Error(code, message.text, *message.blamed);
  throw Error(code, message.text);
}

std::vector<std::byte> encode_to_send(const Message& message) {
  auto bytes = encode(message);
  if (bytes.size() <= os::kMaxMessageBytes) return bytes;
  throw Error(ErrorCode::kInvalidArgument,
              "a message of " + std::to_string(bytes.size()) +
                  " bytes to the coordinator is too long: key and value together have at most " +
                  std::to_string(os::kMaxMessageBytes) + " bytes");
}

}  // namespace

Client::Welcome Client::join(TimePoint deadline, std::string own_table) {
  Message request{.type = MessageType::kJoin};
  if (!own_table.empty()) request.text = encode(mark_of(own_table));
  send(request, deadline);
  Message answer = next_welcome(deadline);
  auto terms = decode_job(answer.text);
  os::wipe(std::as_writable_bytes(std::span(answer.text)));
  if (!terms) throw_other_version();
  Welcome welcome{.job = std::move(terms->job), .fds = {}, .table_file = {}};
  if (welcome.job.hands_descriptors) welcome.table_file = take_table_file();
  const std::string table = welcome.table_file
                                ? read_table_file(welcome.table_file, terms->table)
                                : take_table(std::move(own_table), terms->table, deadline);
  if (!add_table(table, welcome.job)) throw_other_version();
  const std::size_t expected_fds = descriptor_count(welcome.job);
  std::move(fds_.begin(), fds_.end(), std::back_inserter(welcome.fds));
  while (welcome.fds.size() < expected_fds) {
    next_welcome(deadline);
    std::move(fds_.begin(), fds_.end(), std::back_inserter(welcome.fds));
  }
  return welcome;
}

// Waits for a kWelcome, and puts its descriptors into fds_. Keeps other messages for next_notice().
Message Client::next_welcome(TimePoint deadline) {
  while (auto message = receive(deadline)) {
    if (message->error) throw_answer(*message);
    if (message->type == MessageType::kWelcome) return *std::move(message);
    notices_.push_back(*std::move(message));
  }
  throw Error(ErrorCode::kTimeout, who() + " did not answer this rank's join");
}

os::Fd Client::take_table_file() {
  if (fds_.empty()) throw_other_version();
  os::Fd file = std::move(fds_.front());
  fds_.erase(fds_.begin());
  return file;
}

// Returns the rank table. The coordinator sends the table only if this rank has no table, or a
// different one.
std::string Client::take_table(std::string own_table, const TableMark& mark, TimePoint deadline) {
  if (mark_of(own_table) == mark) return own_table;
  std::string table;
  while (table.size() < mark.bytes) {
    const Message piece = next_welcome(deadline);
    if (piece.text.empty()) throw_other_version();
    table += piece.text;
  }
  if (mark_of(table) != mark) throw_other_version();
  return table;
}

void Client::put(const std::string& key, const std::string& value) {
  send({.type = MessageType::kPut, .key = key, .text = value}, Clock::now() + kMargin);
}

std::string Client::get(const std::string& key, Duration timeout) {
  return call({.type = MessageType::kGet, .timeout = timeout, .key = key},
              Clock::now() + timeout + kMargin)
      .text;
}

void Client::barrier(const std::string& key, Duration timeout) {
  call({.type = MessageType::kBarrier, .timeout = timeout, .key = key},
       Clock::now() + timeout + kMargin);
}

bool Client::ask_to_train(Duration timeout) {
  if (coordinator_rank_) return false;  // A job is asked to stop only through its launcher.
  send({.type = MessageType::kTraining, .id = ++last_id_, .timeout = timeout, .key = "training"},
       Clock::now() + kMargin);
  return true;
}

Message Client::call(Message request, TimePoint deadline) {
  request.id = ++last_id_;
  send(request, deadline);
  while (auto answer = receive(deadline)) {
    if (answer->type == MessageType::kAborted) throw_answer(*answer);
    if (answer->type == MessageType::kReply && answer->id == request.id) {
      if (answer->error) throw_answer(*answer);
      return *answer;
    }
    notices_.push_back(std::move(*answer));
  }
  throw Error(ErrorCode::kTimeout, who() + " did not answer about '" + request.key + "'");
}

std::optional<Message> Client::next_notice() {
  if (notices_.empty()) {
    if (auto message = receive_now()) notices_.push_back(std::move(*message));
  }
  if (notices_.empty()) return std::nullopt;
  Message notice = std::move(notices_.front());
  notices_.pop_front();
  return notice;
}

// A report about waiting replaces an unsent one: only the newest says what the rank does now. So
// few reports are unsent, however long the coordinator does not read.
template <class Make>
void Client::send_quietly(Make make) noexcept {
  try {
    const Message message = make();
    Report report{.bytes = encode_to_send(message),
                  .is_of_waiting = message.type == MessageType::kWaiting ||
                                   message.type == MessageType::kResumed};
    if (report.is_of_waiting) {
      std::erase_if(unsent_reports_, [](const Report& unsent) { return unsent.is_of_waiting; });
    }
    unsent_reports_.push_back(std::move(report));
  } catch (const std::exception&) {
    return;  // There is no memory for the report.
  }
  send_reports();
}

bool Client::send_reports() noexcept {
  while (!unsent_reports_.empty()) {
    try {
      const os::Io io = connection_->send(unsent_reports_.front().bytes, {});
      if (io == os::Io::kWouldBlock) return false;
    } catch (const std::exception&) {
      // The coordinator is gone, so nobody can receive the report.
    }
    unsent_reports_.pop_front();
  }
  return true;
}

// Returns when the message has left this process: from then on, the system sends it even if the
// process ends.
template <class Make>
void Client::send_last(Make make) noexcept {
  try {
    const TimePoint deadline = Clock::now() + kLastWait;
    send(make(), deadline);
    os::PollSet polls;
    polls.add(connection_->fd(), false, true);
    while (connection_->is_sending() && !is_coordinator_gone_ && Clock::now() < deadline) {
      polls.wait(deadline);
      auto message = receive_now();  // Also sends.
      if (message) notices_.push_back(*std::move(message));
    }
  } catch (const std::exception&) {
    // The coordinator is gone, or does not read.
  }
}

void Client::report_waiting(std::size_t peer, const std::string& operation_key,
                            const std::string& operation_text) noexcept {
  send_quietly([&] {
    return Message{.type = MessageType::kWaiting,
                   .blamed = static_cast<std::uint32_t>(peer),
                   .key = operation_key,
                   .text = std::string(base::cut(operation_text, kMostTextBytes))};
  });
}

void Client::report_resumed() noexcept {
  send_quietly([] { return Message{.type = MessageType::kResumed}; });
}

void Client::report_begun(std::uint64_t step) noexcept {
  send_quietly([&] { return Message{.type = MessageType::kBegun, .step = step}; });
}

void Client::report_trained(std::uint64_t step) noexcept {
  send_quietly([&] { return Message{.type = MessageType::kTrained, .step = step}; });
}

void Client::abort(ErrorCode code, std::optional<std::size_t> blamed,
                   const std::string& text) noexcept {
  send_last([&] {
    Message message{.type = MessageType::kAbort,
                    .error = code,
                    .text = std::string(base::cut(text, kMostTextBytes))};
    if (blamed) message.blamed = static_cast<std::uint32_t>(*blamed);
    return message;
  });
}

void Client::leave() noexcept {
  send_last([] { return Message{.type = MessageType::kLeave}; });
}

std::string Client::who() const {
  return coordinator_rank_
             ? "rank " + std::to_string(*coordinator_rank_) + ", which hosts the rendezvous,"
             : "the launcher";
}

void Client::throw_other_version() const {
  throw Error(ErrorCode::kSystem, who() + " uses another version of rota");
}

// Called when the connection to the coordinator has ended. If the coordinator was in the process of
// a rank, the first call adds a notice.
void Client::on_gone() {
  if (!coordinator_rank_) throw_gone();
  if (std::exchange(is_coordinator_gone_, true)) return;
  notices_.push_back({.type = MessageType::kDeparted,
                      .blamed = static_cast<std::uint32_t>(*coordinator_rank_),
                      .text = "ended"});
}

void Client::send(const Message& message, TimePoint deadline) {
  const auto bytes = encode_to_send(message);
  os::PollSet polls;
  polls.add(connection_->fd(), false, true);
  for (;;) {
    const os::Io io = send_reports() ? connection_->send(bytes, {}) : os::Io::kWouldBlock;
    // A coordinator that has ended may have sent why the job failed. So the next read says what has
    // happened, and not this function.
    if (io == os::Io::kDone || io == os::Io::kClosed) return;
    if (Clock::now() >= deadline) {
      throw Error(ErrorCode::kTimeout, who() + " does not read this rank's messages");
    }
    polls.wait(deadline);
  }
}

std::optional<Message> Client::receive(TimePoint deadline) {
  os::PollSet polls;
  for (;;) {
    if (auto message = receive_now()) return message;
    if (is_coordinator_gone_) {
      throw Error(ErrorCode::kPeerLost, who() + " has ended", *coordinator_rank_);
    }
    if (Clock::now() >= deadline) return std::nullopt;
    polls.clear();
    const bool is_sending = connection_->is_sending() || !unsent_reports_.empty();
    polls.add(connection_->fd(), true, is_sending);
    polls.wait(deadline);
  }
}

std::optional<Message> Client::receive_now() {
  if (is_coordinator_gone_) return std::nullopt;
  send_reports();
  const os::Io io = connection_->receive(buffer_, fds_);
  if (io == os::Io::kClosed) on_gone();
  if (io != os::Io::kDone) return std::nullopt;
  auto message = decode(buffer_);
  os::wipe(buffer_);  // A kWelcome contains the key.
  if (!message) throw_other_version();
  return message;
}

}  // namespace rota::rendezvous
