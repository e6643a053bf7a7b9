// The reference for TCP over loopback, measured by the method that measures rota: an all-reduce of
// floats between two threads over one connection. The threads exchange halves, add while more
// values arrive, and exchange the sums. Rota over TCP sends the same bytes and makes the same
// additions, but also has a plan, headers and checks.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/run.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"

#if defined(__x86_64__)
// One loop in three variants. The program uses the best one that the machine supports.
#define ROTA_EVERY_INSTRUCTION_SET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ROTA_EVERY_INSTRUCTION_SET
#endif

namespace rota::bench {
namespace {

constexpr std::size_t kSlotBytes = 256 << 10;  // Values stay in a cache until they are added.
constexpr int kTriesBeforeRest = 200;

// Returns the two ends of a connection over loopback.
std::array<os::Fd, 2> connected_pair() {
  const os::Listener listener = os::listen_on_loopback();
  os::Connecting caller = os::start_connect(os::parse_address(listener.address));
  os::PollSet polls;
  polls.add(listener.socket.get(), true, false);
  polls.wait(std::nullopt);
  os::Accepted called = os::accept_connection(listener.socket.get());
  if (!caller.socket || !called.socket) throw std::runtime_error("no connection over loopback");
  os::set_no_delay(caller.socket.get());
  os::set_no_delay(called.socket.get());
  return {std::move(caller.socket), std::move(called.socket)};
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
    const auto part_of = [&](std::size_t rank) {
      return reinterpret_cast<std::byte*>(all.data() + rank * values.size());
    };
    exchange(part_of(rank_), values.size_bytes(), part_of(1 - rank_), values.size_bytes());
    return all;
  }

 private:
  static std::size_t bytes_of(const os::Moved& moved) {
    if (moved.closed) throw std::runtime_error("the connection: " + moved.reason);
    return moved.bytes;
  }
  std::size_t send_some(const std::byte* from, std::size_t count) const {
    return count == 0 ? 0 : bytes_of(os::send_some(socket_, {}, {from, count}));
  }
  std::size_t receive_some(std::byte* into, std::size_t count) const {
    return count == 0 ? 0 : bytes_of(os::receive_some(socket_, {into, count}));
  }

  // The first few calls return immediately, since the other thread may be about to answer. The next
  // call sleeps.
  void rest(bool wants_to_send, bool wants_to_receive) {
    if (++tries_ < kTriesBeforeRest) return;
    polls_.clear();
    polls_.add(socket_, wants_to_receive, wants_to_send);
    polls_.wait(std::nullopt);
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

  // out = own + the values that arrive (`to_add` bytes).
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
  os::PollSet polls_;
  int tries_ = 0;
};

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  const std::array<rota::os::Fd, 2> sockets = connected_pair();
  std::array<int, 2> exit_codes{};
  const auto run = [&](std::size_t rank) {
    try {
      exit_codes[rank] =
          run_program(measurement_options("socket_bench"), argument_count, arguments,
                      [&](const cxxopts::ParseResult&) {
                        return std::make_unique<SocketGroup>(sockets[rank].get(), rank);
                      });
    } catch (const std::exception& error) {
      std::cerr << "socket_bench: " << error.what() << '\n';
      std::_Exit(1);  // Otherwise the other thread would wait forever.
    }
  };
  std::thread second(run, 1);
  run(0);
  second.join();
  return exit_codes[0];
}
