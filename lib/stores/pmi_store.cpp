// Moves the lines of a talk between this rank and the launcher.
#include "stores/pmi_store.h"

#include <array>
#include <span>

#include <rota/error.h>

#include "os/host.h"
#include "os/message_socket.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "stores/pmi_talk.h"
#include "stores/wipe.h"

namespace rota::stores {

PmiStore::PmiStore(int fd, bool is_rank_0) : is_rank_0_(is_rank_0) {
  if (os::maker_of_pair(fd) == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "PMI_FD is " + std::to_string(fd) +
                    ", but this process has no socket there: whatever starts the program must "
                    "leave this descriptor open");
  }
  socket_ = os::Fd(fd);
  os::close_on_exec(fd);
}

std::string PmiStore::share(const std::string& word, base::TimePoint deadline) {
  PmiTalk talk(is_rank_0_ ? std::optional(word) : std::nullopt);
  std::string out;
  os::PollSet polls;
  while (!talk.is_done()) {
    if (out.empty()) out = talk.take_output();
    const os::Moved sent = os::send_some(socket_.get(), std::as_bytes(std::span(out)), {});
    out.erase(0, sent.bytes);
    if (out.empty()) wipe(out);
    std::array<char, PmiTalk::kMostLineBytes> in{};
    const os::Moved got = os::receive_some(socket_.get(), std::as_writable_bytes(std::span(in)));
    if (got.bytes > 0) talk.receive({in.data(), got.bytes});
    os::wipe(std::as_writable_bytes(std::span(in).first(got.bytes)));
    if (talk.is_done()) break;
    if (sent.closed || got.closed) {
      throw Error(ErrorCode::kPeerLost,
                  "the launcher's PMI server has closed its connection, and this rank waits for " +
                      talk.awaited() +
                      "; the server serves only one program of each rank, and only once");
    }
    if (base::Clock::now() >= deadline) {
      throw Error(ErrorCode::kTimeout,
                  "the launcher's PMI server: this rank waits for " + talk.awaited());
    }
    if (got.bytes > 0) continue;
    polls.clear();
    polls.add(socket_.get(), true, !out.empty());
    polls.wait(deadline);
  }
  socket_.reset();
  return talk.word();
}

}  // namespace rota::stores
