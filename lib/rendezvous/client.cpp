// Requests and their answers; what comes unasked is kept for next_notice().
#include "rendezvous/client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "os/host.h"
#include "os/poll_set.h"

namespace rota::rendezvous {
namespace {

using base::Clock;
using base::Duration;
using base::TimePoint;

// The coordinator keeps the deadlines; this is how much later we give up on the coordinator.
constexpr std::chrono::seconds kMargin{5};

// Of a sentence for a person; a longer one is cut.
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
              "a message of " + std::to_string(bytes.size()) + " bytes to the coordinator: " +
                  std::to_string(os::kMaxMessageBytes) + " are the most, key and value together");
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
  Welcome welcome{.job = std::move(terms->job), .fds = {}};
  const std::string table = welcome.job.lends
                                ? take_lent_table(terms->table)
                                : take_table(std::move(own_table), terms->table, deadline);
  if (!add_table(table, welcome.job)) throw_other_version();
  const std::size_t expected_fds = lent_count(welcome.job);
  std::move(fds_.begin(), fds_.end(), std::back_inserter(welcome.fds));
  while (welcome.fds.size() < expected_fds) {
    next_welcome(deadline);
    std::move(fds_.begin(), fds_.end(), std::back_inserter(welcome.fds));
  }
  return welcome;
}

// With its descriptors in fds_. What else comes is for later.
Message Client::next_welcome(TimePoint deadline) {
  while (auto message = receive(deadline)) {
    if (message->error) throw_answer(*message);
    if (message->type == MessageType::kWelcome) return *std::move(message);
    notices_.push_back(*std::move(message));
  }
  throw Error(ErrorCode::kTimeout, who() + " did not answer this rank's join");
}

std::string Client::take_lent_table(const TableMark& mark) {
  if (fds_.empty()) throw_other_version();
  const os::Fd file = std::move(fds_.front());
  fds_.erase(fds_.begin());
  return read_table_file(file, mark);
}

// It comes where this rank's own is another one.
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

void Client::begin_training(Duration timeout) {
  if (host_) return;  // Only a launcher is asked to stop a job.
  call({.type = MessageType::kTraining, .timeout = timeout, .key = "training"},
       Clock::now() + timeout + kMargin);
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

template <class Make>
void Client::send_quietly(Make make) noexcept {
  try {
    line_->send(encode_to_send(make()), {});
  } catch (const std::exception&) {
    // Nobody is there to hear it.
  }
}

void Client::report_waiting(std::size_t peer, const std::string& operation_key,
                            const std::string& operation_text) noexcept {
  send_quietly([&] {
    return Message{.type = MessageType::kWaiting,
                   .blamed = static_cast<std::uint32_t>(peer),
                   .key = operation_key,
                   .text = operation_text.substr(0, kMostTextBytes)};
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
  send_quietly([&] {
    Message message{
        .type = MessageType::kAbort, .error = code, .text = text.substr(0, kMostTextBytes)};
    if (blamed) message.blamed = static_cast<std::uint32_t>(*blamed);
    return message;
  });
}

void Client::leave() noexcept {
  send_quietly([] { return Message{.type = MessageType::kLeave}; });
}

std::string Client::who() const {
  return host_ ? "rank " + std::to_string(*host_) + ", where the ranks meet," : "the launcher";
}

void Client::throw_other_version() const {
  throw Error(ErrorCode::kSystem, who() + " speaks another version of rota");
}

// Said once: what comes from nobody is nothing.
void Client::on_gone() {
  if (!host_) throw_gone();
  if (std::exchange(is_host_gone_, true)) return;
  notices_.push_back({.type = MessageType::kDeparted,
                      .blamed = static_cast<std::uint32_t>(*host_),
                      .text = "ended"});
}

void Client::send(const Message& message, TimePoint deadline) {
  const auto bytes = encode_to_send(message);
  os::PollSet polls;
  polls.add(line_->fd(), false, true);
  for (;;) {
    const os::Io io = line_->send(bytes, {});
    if (io == os::Io::kDone) return;
    if (io == os::Io::kClosed && host_) return;  // What it said before has yet to be read.
    if (io == os::Io::kClosed) throw_gone();
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
    if (is_host_gone_) {
      throw Error(ErrorCode::kPeerLost, who() + " has ended", *host_);
    }
    if (Clock::now() >= deadline) return std::nullopt;
    polls.clear();
    polls.add(line_->fd(), true, line_->is_sending());
    polls.wait(deadline);
  }
}

std::optional<Message> Client::receive_now() {
  if (is_host_gone_) return std::nullopt;
  const os::Io io = line_->receive(buffer_, fds_);
  if (io == os::Io::kClosed) on_gone();
  if (io != os::Io::kDone) return std::nullopt;
  auto message = decode(buffer_);
  os::wipe(buffer_);  // A welcome has a key in it.
  if (!message) throw_other_version();
  return message;
}

}  // namespace rota::rendezvous
