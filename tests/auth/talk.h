// A handshake over a connection. The test is between the two ends of the connection. It receives
// all bytes that they send, and may change these bytes.
#pragma once
#include <sys/socket.h>

#include <functional>
#include <stdexcept>
#include <utility>

#include "auth/bytes.h"
#include "auth/handshake_io.h"
#include "os/fd.h"
#include "os/tcp_socket.h"

namespace rota::auth {

inline std::pair<os::Fd, os::Fd> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::runtime_error("socketpair");
  }
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

class Talk {
 public:
  struct End {
    Handshake handshake;
    Stream stream;
    os::Fd way{};  // The test's end of the connection.
    Bytes said{};  // All bytes that this end sent, before any change.
    bool is_open = true;

    bool is_under_way() const {
      return is_open && (handshake.state() == Handshake::State::kTalking ||
                         handshake.state() == Handshake::State::kEncrypting);
    }
  };

  Talk(const Credentials& own_of_caller, const Credentials& own_of_answerer)
      : caller{Handshake::call(own_of_caller, {.from = 1}), {}},
        answerer{Handshake::answer(own_of_answerer), {}} {
    for (End* end : {&caller, &answerer}) {
      auto [own, way] = socket_pair();
      end->stream = std::move(own);
      end->way = std::move(way);
    }
  }

  // Runs until both ends are done, or neither end has anything to say. The answerer accepts every
  // caller.
  void run() {
    for (int turn = 0; turn < 100 && (caller.is_under_way() || answerer.is_under_way()); ++turn) {
      advance(answerer);
      pass_on();
      advance(caller);
      pass_on();
    }
  }

  // Delivers all bytes that both ends have sent so far.
  void pass_on() {
    pass_on(caller, answerer);
    pass_on(answerer, caller);
  }

  End caller;
  End answerer;
  std::function<void(Bytes& said, bool is_callers)> change;

 private:
  static void advance(End& end) {
    if (!end.is_under_way()) return;
    end.is_open = auth::advance(end.handshake, end.stream);
    if (end.handshake.state() == Handshake::State::kAsking) {
      end.handshake.accept();
      end.is_open = auth::advance(end.handshake, end.stream);
    }
    const bool is_refused = end.handshake.state() == Handshake::State::kStranger;
    if (!end.is_open || is_refused) end.stream.reset();
  }

  void pass_on(End& from, End& to) const {
    if (!from.way) return;
    Bytes said(1 << 16);
    const os::Moved moved = os::receive_some(from.way.get(), said);
    said.resize(moved.bytes);
    from.said.insert(from.said.end(), said.begin(), said.end());
    if (change) change(said, &from == &caller);
    if (!said.empty()) os::send_some(to.way.get(), said, {});
    if (moved.closed) os::end_sending(to.way.get());
    if (moved.closed) from.way.reset();
  }
};

}  // namespace rota::auth
