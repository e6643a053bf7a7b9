// Has the connections to some ranks, and the messages that wait to be sent over each.
#include "rendezvous/connections.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "os/message_socket.h"

namespace rota::rendezvous {
namespace {

// The limit of messages read from one rank in an iteration: the event loop also serves other ranks
// while one rank sends without a pause.
constexpr std::size_t kMostMessagesATurn = 256;

// The limit of messages with descriptors in an iteration. Handing over the arenas' descriptors
// to thousands of ranks takes the system seconds, and a process without a heartbeat for so long
// counts as hung.
constexpr std::size_t kMostDescriptorMessagesATurn = 256;

// The system may refuse descriptors in flight although the connection is writable; then the message
// is sent again after this time.
constexpr auto kRetryAfter = std::chrono::milliseconds(5);

}  // namespace

void Connections::connect(std::size_t index, std::unique_ptr<Connection> connection) {
  outboxes_[index].connection = std::move(connection);
}

void Connections::add_to(os::PollSet& polls, base::TimePoint now) {
  for (Outbox& outbox : outboxes_) {
    outbox.position = kNotPolled;
    if (!outbox.connection) continue;
    const bool may_send = !outbox.retry_at || now >= *outbox.retry_at;
    const bool wants_to_send =
        outbox.connection->is_sending() || (!outbox.pending.empty() && may_send);
    outbox.position = polls.add(outbox.connection->fd(), true, wants_to_send);
    if (outbox.connection->has_unread()) polls.expect(outbox.position);
  }
}

void Connections::handle(const os::PollSet& polls, base::TimePoint now) {
  for (std::size_t index = 0; index < outboxes_.size(); ++index) {
    Outbox& outbox = outboxes_[index];
    if (outbox.position == kNotPolled || !outbox.connection)
      continue;  // The connection may have ended in this iteration.
    const bool is_writable = polls.writable(outbox.position);
    if (outbox.retry_at && now >= *outbox.retry_at && is_writable) outbox.retry_at.reset();
    const bool can_go_on = outbox.connection->is_sending() && is_writable;
    if (polls.readable(outbox.position) || can_go_on) read(index, kMostMessagesATurn);
  }
}

void Connections::read_all(std::size_t index) {
  constexpr std::size_t kMoreThanASocketHolds = 64 * kMostMessagesATurn;
  read(index, kMoreThanASocketHolds);
}

void Connections::read(std::size_t index, std::size_t most_messages) {
  std::unique_ptr<Connection>& connection = outboxes_[index].connection;
  for (std::size_t i = 0; i < most_messages && connection; ++i) {
    const os::Io io = receive(*connection);
    if (io == os::Io::kWouldBlock) return;
    if (io == os::Io::kClosed) return connection.reset();
    heard_(index, bytes_);
  }
}

// Receives a message into bytes_. If the message is too large, bytes_ has only its beginning, which
// no reader accepts as a message.
os::Io Connections::receive(Connection& connection) {
  try {
    return connection.receive(bytes_, fds_);
  } catch (const Error&) {
    return os::Io::kDone;
  }
}

void Connections::post(std::size_t index, Message message, const std::vector<int>& fds) {
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + os::kMaxMessageFds, fds.size());
    Pending& next = outboxes_[index].pending.emplace_back();
    next.bytes = encode(message);
    next.fds.assign(fds.data() + begin, fds.data() + end);
    os::wipe(std::as_writable_bytes(std::span(message.text)));
    message.text.clear();  // The text is sent once; further descriptors follow without it.
    begin = end;
  } while (begin < fds.size());
}

void Connections::send_all(base::TimePoint now) {
  descriptor_messages_left_ = kMostDescriptorMessagesATurn;
  for (std::size_t index = 0; index < outboxes_.size(); ++index) send(index, now);
}

void Connections::send(std::size_t index, base::TimePoint now) {
  Outbox& outbox = outboxes_[index];
  if (!outbox.connection) outbox.pending.clear();
  while (!outbox.retry_at && !outbox.pending.empty()) {
    const Pending& next = outbox.pending.front();
    const bool has_fds = !next.fds.empty();
    if (has_fds && descriptor_messages_left_ == 0) return;
    const os::Io io = outbox.connection->send(next.bytes, next.fds);
    if (io == os::Io::kWouldBlock) {
      outbox.retry_at = now + kRetryAfter;  // The retry also waits until poll reports room.
      return;
    }
    if (io == os::Io::kClosed)
      return outbox.pending.clear();  // The rank's last messages can still be read.
    outbox.pending.pop_front();
    const bool has_more_fds = !outbox.pending.empty() && !outbox.pending.front().fds.empty();
    if (has_fds) --descriptor_messages_left_;
    if (has_fds && !has_more_fds && descriptors_sent_) descriptors_sent_(index);
  }
}

bool Connections::is_sending() const noexcept {
  return std::ranges::any_of(outboxes_, [](const Outbox& outbox) {
    return outbox.connection && (!outbox.pending.empty() || outbox.connection->is_sending());
  });
}

std::optional<base::TimePoint> Connections::next_deadline(base::TimePoint now) const {
  std::optional<base::TimePoint> next;
  for (const Outbox& outbox : outboxes_) {
    const bool is_ahead = outbox.retry_at && now < *outbox.retry_at;
    if (is_ahead && (!next || *outbox.retry_at < *next)) next = outbox.retry_at;
  }
  return next;
}

}  // namespace rota::rendezvous
