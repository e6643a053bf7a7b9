// The lines between the ranks and the coordinator.
#include "rendezvous/switchboard.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "os/message_socket.h"

namespace rota::rendezvous {
namespace {

// A rank that never stops talking does not keep the others from being heard.
constexpr std::size_t kMostMessagesATurn = 256;

// The system may refuse descriptors in flight although the line is writable; ask again later.
constexpr auto kRetryAfter = std::chrono::milliseconds(5);

}  // namespace

Switchboard::Switchboard(const Job& job, Hooks hooks)
    : coordinator_(job), hooks_(std::move(hooks)), boxes_(job.table.rows.size()) {}

void Switchboard::connect(std::size_t rank, std::unique_ptr<Line> line) {
  boxes_[rank].line = std::move(line);
}

void Switchboard::add_to(os::PollSet& polls, base::TimePoint now) {
  for (Box& box : boxes_) {
    box.position = kNotPolled;
    if (!box.line) continue;
    const bool may_send = !box.retry_at || now >= *box.retry_at;
    const bool wants_to_send = box.line->is_sending() || (!box.parcels.empty() && may_send);
    box.position = polls.add(box.line->fd(), true, wants_to_send);
  }
}

void Switchboard::handle(const os::PollSet& polls, base::TimePoint now) {
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
    Box& box = boxes_[rank];
    if (box.position == kNotPolled) continue;
    const bool is_writable = polls.writable(box.position);
    if (box.retry_at && now >= *box.retry_at && is_writable) box.retry_at.reset();
    const bool can_go_on = box.line->is_sending() && is_writable;
    if (polls.readable(box.position) || can_go_on) read(rank, kMostMessagesATurn, now);
  }
}

void Switchboard::read_all(std::size_t rank, base::TimePoint now) {
  constexpr std::size_t kMoreThanALineHolds = 64 * kMostMessagesATurn;
  read(rank, kMoreThanALineHolds, now);
}

void Switchboard::read(std::size_t rank, std::size_t most_messages, base::TimePoint now) {
  std::unique_ptr<Line>& line = boxes_[rank].line;
  for (std::size_t i = 0; i < most_messages && line; ++i) {
    const os::Io io = receive(*line);
    if (io == os::Io::kWouldBlock) return;
    if (io == os::Io::kClosed) return line.reset();
    const Message message = read_from_rank(rank, boxes_.size(), bytes_);
    coordinator_.on_message(rank, message, now);
    if (hooks_.heard) hooks_.heard(rank, message);
  }
}

// Into bytes_. What is too large to be a message is taken for one that makes no sense.
os::Io Switchboard::receive(Line& line) {
  try {
    return line.receive(bytes_, fds_);
  } catch (const Error&) {
    return os::Io::kDone;
  }
}

void Switchboard::send_all(base::TimePoint now) {
  for (const Outgoing& outgoing : coordinator_.take_outbox()) post(outgoing);
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) send(rank, now);
}

void Switchboard::post(const Outgoing& outgoing) {
  std::vector<int> fds;
  if (outgoing.with_descriptors && hooks_.lend) fds = hooks_.lend(outgoing.rank);
  Message message = outgoing.message;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + os::kMaxMessageFds, fds.size());
    boxes_[outgoing.rank].parcels.push_back(
        {encode(message), std::vector<int>(fds.data() + begin, fds.data() + end)});
    message.text.clear();  // What it says is said once; further descriptors follow alone.
    begin = end;
  } while (begin < fds.size());
}

void Switchboard::send(std::size_t rank, base::TimePoint now) {
  Box& box = boxes_[rank];
  if (!box.line) box.parcels.clear();
  while (!box.retry_at && !box.parcels.empty()) {
    const Parcel& parcel = box.parcels.front();
    const os::Io io = box.line->send(parcel.bytes, parcel.fds);
    if (io == os::Io::kWouldBlock) {
      box.retry_at = now + kRetryAfter;  // And not before poll says that there is room.
      return;
    }
    if (io == os::Io::kClosed) return box.parcels.clear();  // What it sent before is still there.
    const bool had_fds = !parcel.fds.empty();
    box.parcels.pop_front();
    const bool has_more_fds = !box.parcels.empty() && !box.parcels.front().fds.empty();
    if (had_fds && !has_more_fds && hooks_.lent) hooks_.lent(rank);
  }
}

std::optional<base::TimePoint> Switchboard::next_deadline(base::TimePoint now) const {
  std::optional<base::TimePoint> next = coordinator_.next_deadline();
  for (const Box& box : boxes_) {
    const bool is_ahead = box.retry_at && now < *box.retry_at;
    if (is_ahead && (!next || *box.retry_at < *next)) next = box.retry_at;
  }
  return next;
}

}  // namespace rota::rendezvous
