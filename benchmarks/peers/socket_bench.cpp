// What two sockets on loopback can do at most, measured by the method that rota is measured by: an
// all-reduce of floats by two threads that exchange halves, add what comes while more comes, and
// exchange the sums. The same bytes and additions as rota over TCP, without a plan, a header or a
// check.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "collectives/run.h"

#if defined(__x86_64__)
// One loop in three variants, of which the best that the machine has is taken.
#define ROTA_EVERY_INSTRUCTION_SET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ROTA_EVERY_INSTRUCTION_SET
#endif

namespace rota::bench {
namespace {

constexpr std::size_t kSlotBytes = 256 << 10;  // Stays in a cache until it is added.
constexpr int kTriesBeforeRest = 200;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string(what) + " failed");
}

void prepare(int socket) {
  const int on = 1;
  require(setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
  require(fcntl(socket, F_SETFL, O_NONBLOCK) == 0, "O_NONBLOCK");
}

// Two ends of one connection over loopback.
std::array<int, 2> connected_pair() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  require(bind(listener, place, bytes) == 0 && listen(listener, 1) == 0, "listening");
  require(getsockname(listener, place, &bytes) == 0, "getsockname");
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  require(connect(caller, place, bytes) == 0, "connecting");
  const int called = accept(listener, nullptr, nullptr);
  require(called >= 0, "accepting");
  close(listener);
  prepare(caller);
  prepare(called);
  return {caller, called};
}

ROTA_EVERY_INSTRUCTION_SET
void add(const float* __restrict a, const float* __restrict b, float* out,
         std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

class SocketGroup final : public Group {
 public:
  SocketGroup(int socket, std::size_t rank) : socket_(socket), rank_(rank), slot_(kSlotBytes) {}

  std::string name() const override { return "socket"; }
  std::size_t rank() const override { return rank_; }
  std::size_t world_size() const override { return 2; }
  std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory) override {
    return plain_memory(bytes);
  }

  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    if (work.collective != Collective::kAllReduce || work.type != DataType::kFloat32 ||
        work.op != ReduceOp::kSum) {
      return {};
    }
    const std::size_t first = work.bytes() / 2 / sizeof(float) * sizeof(float);
    const std::array<Slice, 2> halves{Slice{0, first}, Slice{first, work.bytes() - first}};
    const Slice own = halves[rank_];
    const Slice other = halves[1 - rank_];
    return {[=, this] {
              exchange_and_add(buffers.input + other.offset, other.count,
                               buffers.input + own.offset, buffers.output + own.offset, own.count);
              exchange(buffers.output + own.offset, own.count, buffers.output + other.offset,
                       other.count);
            },
            "halves"};
  }

  void barrier() override {
    std::byte own{};
    std::byte other{};
    exchange(&own, 1, &other, 1);
  }

  std::vector<double> gather_from_all(std::span<const double> values) override {
    std::vector<double> all(2 * values.size());
    std::ranges::copy(values, all.begin() + static_cast<std::ptrdiff_t>(rank_ * values.size()));
    const auto bytes_of = [&](std::size_t rank) {
      return reinterpret_cast<std::byte*>(all.data() + rank * values.size());
    };
    exchange(bytes_of(rank_), values.size_bytes(), bytes_of(1 - rank_), values.size_bytes());
    return all;
  }

 private:
  // Bytes that have moved, or none.
  static std::size_t moved(ssize_t result) {
    if (result > 0) return static_cast<std::size_t>(result);
    require(result < 0 && errno == EAGAIN, "the connection");
    return 0;
  }
  std::size_t send_some(const std::byte* from, std::size_t count) {
    return count == 0 ? 0 : moved(send(socket_, from, count, MSG_NOSIGNAL));
  }
  std::size_t receive_some(std::byte* into, std::size_t count) {
    return count == 0 ? 0 : moved(recv(socket_, into, count, 0));
  }

  // Looks a few times, since the other thread may be at it, and then sleeps.
  void rest(bool wants_to_send, bool wants_to_receive) {
    if (++tries_ < kTriesBeforeRest) return;
    pollfd waiting{.fd = socket_, .events = 0, .revents = 0};
    if (wants_to_send) waiting.events |= POLLOUT;
    if (wants_to_receive) waiting.events |= POLLIN;
    poll(&waiting, 1, -1);
    tries_ = 0;
  }

  void exchange(const std::byte* from, std::size_t to_send, std::byte* into,
                std::size_t to_receive) {
    while (to_send + to_receive > 0) {
      const std::size_t sent = send_some(from, to_send);
      const std::size_t received = receive_some(into, to_receive);
      from += sent;
      to_send -= sent;
      into += received;
      to_receive -= received;
      if (sent + received == 0) rest(to_send > 0, to_receive > 0);
    }
  }

  // out = own + what comes, of `to_add` bytes.
  void exchange_and_add(const std::byte* from, std::size_t to_send, const std::byte* own,
                        std::byte* out, std::size_t to_add) {
    std::size_t in_slot = 0;
    while (to_send + to_add > 0) {
      const std::size_t sent = send_some(from, to_send);
      from += sent;
      to_send -= sent;
      const std::size_t wanted = std::min(to_add, kSlotBytes) - in_slot;
      const std::size_t received = receive_some(slot_.data() + in_slot, wanted);
      in_slot += received;
      const std::size_t whole = in_slot / sizeof(float) * sizeof(float);
      if (whole == in_slot && whole > 0) {
        add(reinterpret_cast<const float*>(own), reinterpret_cast<const float*>(slot_.data()),
            reinterpret_cast<float*>(out), whole / sizeof(float));
        own += whole;
        out += whole;
        to_add -= whole;
        in_slot = 0;
      }
      if (sent + received == 0) rest(to_send > 0, to_add > 0);
    }
  }

  int socket_;
  std::size_t rank_;
  std::vector<std::byte> slot_;
  int tries_ = 0;
};

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  const std::array<int, 2> sockets = connected_pair();
  std::array<int, 2> exit_codes{};
  const auto run = [&](std::size_t rank) {
    try {
      exit_codes[rank] = run_program(measurement_options("socket_bench"), argument_count, arguments,
                                     [&](const cxxopts::ParseResult&) {
                                       return std::make_unique<SocketGroup>(sockets[rank], rank);
                                     });
    } catch (const std::exception& error) {
      std::cerr << "socket_bench: " << error.what() << '\n';
      std::_Exit(1);  // The other thread waits for this one.
    }
  };
  std::thread second(run, 1);
  run(0);
  second.join();
  return exit_codes[0];
}
