// The lines to some ranks, and what waits to be sent over each.
#include "rendezvous/lines.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "os/message_socket.h"

namespace rota::rendezvous {
namespace {

// A rank that never stops talking does not keep the others from being heard.
constexpr std::size_t kMostMessagesATurn = 256;

// Messages with descriptors. To lend each of thousands of ranks what all have takes the system
// seconds, and whoever is silent for so long counts as hung.
constexpr std::size_t kMostLoansATurn = 256;

// The system may refuse descriptors in flight although the line is writable; ask again later.
constexpr auto kRetryAfter = std::chrono::milliseconds(5);

}  // namespace

void Lines::connect(std::size_t index, std::unique_ptr<Line> line) {
  boxes_[index].line = std::move(line);
}

void Lines::add_to(os::PollSet& polls, base::TimePoint now) {
  for (Box& box : boxes_) {
    box.position = kNotPolled;
    if (!box.line) continue;
    const bool may_send = !box.retry_at || now >= *box.retry_at;
    const bool wants_to_send = box.line->is_sending() || (!box.parcels.empty() && may_send);
    box.position = polls.add(box.line->fd(), true, wants_to_send);
    if (box.line->has_unread()) polls.expect(box.position);
  }
}

void Lines::handle(const os::PollSet& polls, base::TimePoint now) {
  for (std::size_t index = 0; index < boxes_.size(); ++index) {
    Box& box = boxes_[index];
    if (box.position == kNotPolled || !box.line) continue;  // It may have ended this turn.
    const bool is_writable = polls.writable(box.position);
    if (box.retry_at && now >= *box.retry_at && is_writable) box.retry_at.reset();
    const bool can_go_on = box.line->is_sending() && is_writable;
    if (polls.readable(box.position) || can_go_on) read(index, kMostMessagesATurn);
  }
}

void Lines::read_all(std::size_t index) {
  constexpr std::size_t kMoreThanALineHolds = 64 * kMostMessagesATurn;
  read(index, kMoreThanALineHolds);
}

void Lines::read(std::size_t index, std::size_t most_messages) {
  std::unique_ptr<Line>& line = boxes_[index].line;
  for (std::size_t i = 0; i < most_messages && line; ++i) {
    const os::Io io = receive(*line);
    if (io == os::Io::kWouldBlock) return;
    if (io == os::Io::kClosed) return line.reset();
    heard_(index, bytes_);
  }
}

// Into bytes_. Of what is too large to be a message the beginning is there, which is none either.
os::Io Lines::receive(Line& line) {
  try {
    return line.receive(bytes_, fds_);
  } catch (const Error&) {
    return os::Io::kDone;
  }
}

void Lines::post(std::size_t index, Message message, const std::vector<int>& fds) {
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + os::kMaxMessageFds, fds.size());
    Parcel& parcel = boxes_[index].parcels.emplace_back();
    parcel.bytes = encode(message);
    parcel.fds.assign(fds.data() + begin, fds.data() + end);
    os::wipe(std::as_writable_bytes(std::span(message.text)));
    message.text.clear();  // What it says is said once; further descriptors follow alone.
    begin = end;
  } while (begin < fds.size());
}

void Lines::send_all(base::TimePoint now) {
  loans_left_ = kMostLoansATurn;
  for (std::size_t index = 0; index < boxes_.size(); ++index) send(index, now);
}

void Lines::send(std::size_t index, base::TimePoint now) {
  Box& box = boxes_[index];
  if (!box.line) box.parcels.clear();
  while (!box.retry_at && !box.parcels.empty()) {
    const Parcel& parcel = box.parcels.front();
    const bool has_fds = !parcel.fds.empty();
    if (has_fds && loans_left_ == 0) return;
    const os::Io io = box.line->send(parcel.bytes, parcel.fds);
    if (io == os::Io::kWouldBlock) {
      box.retry_at = now + kRetryAfter;  // And not before poll says that there is room.
      return;
    }
    if (io == os::Io::kClosed) return box.parcels.clear();  // What it sent before is still there.
    box.parcels.pop_front();
    const bool has_more_fds = !box.parcels.empty() && !box.parcels.front().fds.empty();
    if (has_fds) --loans_left_;
    if (has_fds && !has_more_fds && lent_) lent_(index);
  }
}

std::optional<base::TimePoint> Lines::next_deadline(base::TimePoint now) const {
  std::optional<base::TimePoint> next;
  for (const Box& box : boxes_) {
    const bool is_ahead = box.retry_at && now < *box.retry_at;
    if (is_ahead && (!next || *box.retry_at < *next)) next = box.retry_at;
  }
  return next;
}

}  // namespace rota::rendezvous
