// Configures c-ares, and keeps it from reading files and from leaking sockets.
#include "names/ares_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include <rota/error.h>

namespace rota::names {
namespace {

constexpr int kTries = 2;  // The second try waits twice as long as the first.

[[noreturn]] void throw_failure(const std::string& what, int status) {
  const ErrorCode code = status == ARES_ENOMEM ? ErrorCode::kNoMemory : ErrorCode::kSystem;
  throw Error(code, what + ": c-ares: " + ::ares_strerror(status));
}

// Runs once in a process. c-ares sets up static state only, so nothing has to be cleaned up.
void require_library() {
  static const int kStatus = ::ares_library_init(ARES_LIB_INIT_ALL);
  if (kStatus != ARES_SUCCESS) throw_failure("looking up names", kStatus);
}

// These functions replace those of c-ares. With the functions of c-ares, a process that another
// thread starts meanwhile would inherit the sockets. And when a server hangs up, the writev of
// c-ares would end this process by SIGPIPE.
const ares_socket_functions kSocketFunctions{
    .asocket =
        [](int family, int type, int protocol, void*) {
          return ::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
        },
    .aclose = [](ares_socket_t socket, void*) { return ::close(socket); },
    .aconnect = [](ares_socket_t socket, const sockaddr* address, ares_socklen_t bytes,
                   void*) { return ::connect(socket, address, bytes); },
    .arecvfrom = [](ares_socket_t socket, void* into, std::size_t bytes, int flags, sockaddr* from,
                    ares_socklen_t* from_bytes,
                    void*) { return ::recvfrom(socket, into, bytes, flags, from, from_bytes); },
    .asendv = [](ares_socket_t socket, const iovec* parts, int count, void*) -> ares_ssize_t {
      msghdr message{};
      message.msg_iov = const_cast<iovec*>(parts);
      message.msg_iovlen = static_cast<std::size_t>(count);
      return ::sendmsg(socket, &message, MSG_NOSIGNAL);
    }};

// Returns a list such as "10.0.0.1:53,[fe80::1]:53%eth0".
std::string list_of(const std::vector<os::Address>& servers) {
  std::string list;
  for (const os::Address& server : servers) {
    std::string host = server.host();
    const std::size_t percent = std::min(host.find('%'), host.size());
    const std::string scope = host.substr(percent);
    host.resize(percent);
    if (server.family() == AF_INET6) host = "[" + host + "]";
    list += (list.empty() ? "" : ",") + host + ":" + std::to_string(server.port()) + scope;
  }
  return list;
}

}  // namespace

AresChannel::AresChannel(const Options& options) {
  require_library();
  const auto patience =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.patience).count();
  std::array<char, 2> lookups{'b', '\0'};  // Only name servers, no files.
  std::string no_file = "/dev/null";
  ares_options all{};
  // c-ares drops the response of a server that fails, and asks the next server. With a single
  // server, the failure must be reported, so the response is kept.
  all.flags = ARES_FLAG_NOALIASES | (options.by_stream ? ARES_FLAG_USEVC : 0) |
              (options.servers.size() == 1 ? ARES_FLAG_NOCHECKRESP : 0);
  all.timeout = std::max(1, static_cast<int>(patience / 3));
  all.tries = kTries;
  all.lookups = lookups.data();
  all.resolvconf_path = no_file.data();
  all.sock_state_cb_data = this;
  all.sock_state_cb = [](void* self, ares_socket_t fd, int reads, int writes) {
    static_cast<AresChannel*>(self)->note({fd, reads != 0, writes != 0});
  };
  const int status =
      ::ares_init_options(&channel_, &all,
                          ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
                              ARES_OPT_RESOLVCONF | ARES_OPT_SOCK_STATE_CB | ARES_OPT_NOROTATE);
  if (status != ARES_SUCCESS) throw_failure("looking up names", status);
  ::ares_set_socket_functions(channel_, &kSocketFunctions, nullptr);
  const std::string servers = list_of(options.servers);
  const int with_servers = ::ares_set_servers_ports_csv(channel_, servers.c_str());
  if (with_servers == ARES_SUCCESS) return;
  ::ares_destroy(channel_);
  throw_failure("asking " + servers, with_servers);
}

AresChannel::~AresChannel() { ::ares_destroy(channel_); }

void AresChannel::note(const Socket& socket) {
  std::erase_if(sockets_, [&](const Socket& one) { return one.fd == socket.fd; });
  if (socket.reads || socket.writes) sockets_.push_back(socket);
}

void AresChannel::add_to(os::PollSet& polls) const {
  for (const Socket& socket : sockets_) polls.add(socket.fd, socket.reads, socket.writes);
}

// Polls the sockets again, because process() does not get the caller's poll set. Work on one socket
// may close another. The number of the closed socket is then unused, or belongs to a new socket
// that has nothing to read yet.
void AresChannel::process() {
  const std::vector<Socket> sockets = sockets_;
  os::PollSet polls;
  add_to(polls);
  polls.wait(base::Clock::now());
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    const Socket& socket = sockets[i];
    const int reading = socket.reads && polls.readable(i) ? socket.fd : ARES_SOCKET_BAD;
    const int writing = socket.writes && polls.writable(i) ? socket.fd : ARES_SOCKET_BAD;
    if (reading != ARES_SOCKET_BAD || writing != ARES_SOCKET_BAD) {
      ::ares_process_fd(channel_, reading, writing);
    }
  }
  ::ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // Handles timeouts.
}

std::optional<base::TimePoint> AresChannel::next_deadline() const {
  timeval left{};
  if (::ares_timeout(channel_, nullptr, &left) == nullptr) return std::nullopt;
  return base::Clock::now() + std::chrono::seconds(left.tv_sec) +
         std::chrono::microseconds(left.tv_usec);
}

}  // namespace rota::names
