// The sockets between the ranks and the coordinator.
#include "launcher/mailroom.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "os/host.h"
#include "os/listener.h"
#include "os/message_socket.h"
#include "os/shared_memory.h"

namespace rota::launcher {
namespace {

using rendezvous::Lent;
using rendezvous::Message;

// A rank that never stops talking does not keep the others from being heard.
constexpr std::size_t kMostMessagesATurn = 256;

// The system may refuse descriptors in flight although the socket is writable; ask again later.
constexpr auto kRetryAfter = std::chrono::milliseconds(5);

// Makes what ranks are lent, and writes into the job where each listens.
std::vector<os::Fd> make_lent(const JobPlan& plan, rendezvous::Job& job) {
  std::vector<os::Fd> lent;
  os::fill_with_randomness(job.nonce);
  const Lent kind = rendezvous::lent_for(job.table.transport);
  for (std::size_t rank = 0; kind != Lent::kNothing && rank < job.table.rows.size(); ++rank) {
    if (kind == Lent::kArenas) {
      lent.push_back(
          os::make_shared_memory("rota-arena-" + std::to_string(rank), plan.arena_bytes));
    } else {
      os::Listener listener = os::listen_on_loopback();
      job.table.rows[rank].address = listener.address;
      lent.push_back(std::move(listener.socket));
    }
  }
  return lent;
}

}  // namespace

Mailroom::Mailroom(const JobPlan& plan, Listener listener)
    : are_arenas_(rendezvous::lent_for(plan.job.table.transport) == Lent::kArenas),
      job_(plan.job),
      lent_(make_lent(plan, job_)),
      coordinator_(job_),
      listener_(std::move(listener)),
      boxes_(job_.table.rows.size()) {}

os::Fd Mailroom::open(std::size_t rank) {
  auto [ours, theirs] = os::make_message_socket_pair();
  boxes_[rank].socket = std::move(ours);
  return std::move(theirs);
}

void Mailroom::add_to(os::PollSet& polls, base::TimePoint now) {
  for (Box& box : boxes_) {
    box.position = kNotPolled;
    if (!box.socket) continue;
    const bool wants_to_send = !box.parcels.empty() && (!box.retry_at || now >= *box.retry_at);
    box.position = polls.add(box.socket.get(), true, wants_to_send);
  }
}

void Mailroom::handle(const os::PollSet& polls, base::TimePoint now) {
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
    Box& box = boxes_[rank];
    if (box.position == kNotPolled) continue;
    if (box.retry_at && now >= *box.retry_at && polls.writable(box.position)) box.retry_at.reset();
    if (polls.readable(box.position)) read(rank, kMostMessagesATurn, now);
  }
}

void Mailroom::read_all(std::size_t rank, base::TimePoint now) {
  constexpr std::size_t kMoreThanASocketHolds = 64 * kMostMessagesATurn;
  read(rank, kMoreThanASocketHolds, now);
}

void Mailroom::read(std::size_t rank, std::size_t most_messages, base::TimePoint now) {
  os::Fd& socket = boxes_[rank].socket;
  for (std::size_t i = 0; i < most_messages && socket; ++i) {
    const os::Io io = receive(socket.get());
    if (io == os::Io::kWouldBlock) return;
    if (io == os::Io::kClosed) return socket.reset();
    const Message message = rendezvous::read_from_rank(rank, boxes_.size(), bytes_);
    coordinator_.on_message(rank, message, now);
    listener_(rank, message);
  }
}

// Into bytes_. What is too large to be a message is taken for one that makes no sense.
os::Io Mailroom::receive(int socket) {
  try {
    return os::receive_message(socket, bytes_, fds_);
  } catch (const Error&) {
    return os::Io::kDone;
  }
}

void Mailroom::send_all(base::TimePoint now) {
  for (const auto& outgoing : coordinator_.take_outbox()) post(outgoing);
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) send(rank, now);
}

void Mailroom::post(const rendezvous::Outgoing& outgoing) {
  if (outgoing.with_descriptors) return post_welcome(outgoing.rank, outgoing.message);
  boxes_[outgoing.rank].parcels.push_back({rendezvous::encode(outgoing.message), {}});
}

void Mailroom::post_welcome(std::size_t rank, const Message& welcome) {
  std::vector<int> fds;
  for (std::size_t i = 0; i < lent_.size(); ++i) {
    if (are_arenas_ || i == rank) fds.push_back(lent_[i].get());
  }
  Message message = welcome;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + os::kMaxMessageFds, fds.size());
    boxes_[rank].parcels.push_back(
        {rendezvous::encode(message), std::vector<int>(fds.data() + begin, fds.data() + end)});
    message.text.clear();  // The job is told once; further descriptors follow alone.
    begin = end;
  } while (begin < fds.size());
}

void Mailroom::send(std::size_t rank, base::TimePoint now) {
  Box& box = boxes_[rank];
  if (!box.socket) box.parcels.clear();
  while (!box.retry_at && !box.parcels.empty()) {
    const Parcel& parcel = box.parcels.front();
    const os::Io io = os::send_message(box.socket.get(), parcel.bytes, parcel.fds);
    if (io == os::Io::kWouldBlock) {
      box.retry_at = now + kRetryAfter;  // And not before poll says that there is room.
      return;
    }
    if (io == os::Io::kClosed) return box.parcels.clear();  // What it sent before is still there.
    const bool had_fds = !parcel.fds.empty();
    box.parcels.pop_front();
    const bool has_more_fds = !box.parcels.empty() && !box.parcels.front().fds.empty();
    if (had_fds && !has_more_fds) release_descriptors(rank);
  }
}

// A rank's listening socket is its own now: when the rank ends, the port closes. Arenas are kept
// until the last rank has them.
void Mailroom::release_descriptors(std::size_t rank) {
  if (std::exchange(boxes_[rank].is_welcomed, true)) return;
  ++welcomed_count_;
  if (!are_arenas_) lent_[rank].reset();
  if (are_arenas_ && welcomed_count_ == boxes_.size()) lent_.clear();
}

std::optional<base::TimePoint> Mailroom::next_deadline(base::TimePoint now) const {
  std::optional<base::TimePoint> next = coordinator_.next_deadline();
  for (const Box& box : boxes_) {
    const bool is_ahead = box.retry_at && now < *box.retry_at;
    if (is_ahead && (!next || *box.retry_at < *next)) next = box.retry_at;
  }
  return next;
}

}  // namespace rota::launcher
