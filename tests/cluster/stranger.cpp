// A program outside the job: `stranger HOST PORT [SECONDS]` connects to a port of the job without a
// key, in several ways, and prints how each attempt ended. Exits with 0 if the job hung up every
// time. Gives up if nobody answers within SECONDS (default: 60).
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

// More than five times the time in which a caller has to prove its identity.
constexpr int kPatienceMs = 30000;

struct Target {
  const char* host;
  const char* port;
  std::chrono::seconds patience;
};

// Retries until the name and the port exist, because a stranger may start before the job.
int call(const Target& target) {
  const auto end = std::chrono::steady_clock::now() + target.patience;
  while (std::chrono::steady_clock::now() < end) {
    const addrinfo hints{.ai_socktype = SOCK_STREAM};
    addrinfo* found = nullptr;
    if (::getaddrinfo(target.host, target.port, &hints, &found) == 0) {
      const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
      const int wire = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const timeval second{.tv_sec = 1, .tv_usec = 0};  // The limit also ends connect().
      ::setsockopt(wire, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
      if (::connect(wire, found->ai_addr, found->ai_addrlen) == 0) return wire;
      ::close(wire);
    }
    ::usleep(200'000);
  }
  return -1;
}

// Returns whether the other side has ended the connection.
bool is_hung_up_on(int wire) {
  std::array<char, 4096> taken;
  pollfd readable{.fd = wire, .events = POLLIN};
  while (::poll(&readable, 1, kPatienceMs) == 1) {
    if (::recv(wire, taken.data(), taken.size(), 0) <= 0) return true;
  }
  return false;
}

bool try_out(const char* what, const std::string& words, const Target& target) {
  const int wire = call(target);
  if (wire < 0) {
    std::printf("%s: nobody is there\n", what);
    return false;
  }
  // The job may close early, so a short send does not matter.
  [[maybe_unused]] const ssize_t sent = ::send(wire, words.data(), words.size(), MSG_NOSIGNAL);
  const bool is_refused = is_hung_up_on(wire);
  std::printf("%s: %s\n", what, is_refused ? "hung up" : "left waiting");
  ::close(wire);
  return is_refused;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Target target{argv[1], argv[2], std::chrono::seconds(argc == 4 ? std::atoi(argv[3]) : 60)};
  const bool is_refused = try_out("silence", "", target) &&
                          try_out("a browser", "GET / HTTP/1.1\r\nHost: job\r\n\r\n", target) &&
                          try_out("zeros", std::string(65536, '\0'), target) &&
                          try_out("ones", std::string(65536, '\xff'), target);
  return is_refused ? 0 : 1;
}
