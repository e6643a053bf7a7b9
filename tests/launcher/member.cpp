// This program is a rank that talks to the coordinator as its arguments say: member BEHAVIOUR
// VICTIM. The rank VICTIM fails in the given way; the others react as a communicator does.
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include <rota/error.h>

#include "os/cgroup.h"
#include "os/listener.h"
#include "os/message_socket.h"
#include "rendezvous/client.h"

namespace {

using rota::Error;
using rota::ErrorCode;
using rota::rendezvous::Client;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kOwnCode = 42;

std::size_t number_of(const char* name) { return std::strtoul(std::getenv(name), nullptr, 10); }

void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "member: %s\n", what);
  std::exit(kOwnCode);
}

Client connect() { return Client(rota::os::Fd(static_cast<int>(number_of("ROTA_RENDEZVOUS_FD")))); }

Client::Welcome join(Client& client) { return client.join(rota::base::Clock::now() + seconds(60)); }

void check_shared_memory(const Client::Welcome& welcome, std::size_t world_size) {
  require(welcome.fds.size() == world_size, "an arena for each rank");
  off_t bytes = 0;
  for (const auto& fd : welcome.fds) {
    struct stat status {};
    require(::fstat(fd.get(), &status) == 0 && status.st_size > 0, "arenas with a size");
    require(bytes == 0 || bytes == status.st_size, "arenas of one size");
    bytes = status.st_size;
  }
}

void check_listener(const Client::Welcome& welcome) {
  require(welcome.fds.size() == 1, "one listening socket");
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  require(::getsockname(welcome.fds[0].get(), generic, &bytes) == 0, "a bound socket");
  require(ntohl(address.sin_addr.s_addr) == INADDR_LOOPBACK, "a socket on the loopback interface");
  const auto& row = welcome.job.table.rows[welcome.job.rank];
  require(row.address == "127.0.0.1:" + std::to_string(ntohs(address.sin_port)), "its own socket");
}

// Joins, checks the welcome, and exchanges values with the others.
int check(std::size_t rank, std::size_t world_size) {
  Client client = connect();
  const auto welcome = join(client);
  require(welcome.job.rank == rank, "its own rank");
  require(welcome.job.table.rows.size() == world_size, "the whole table");
  if (welcome.job.table.transport == "shm") check_shared_memory(welcome, world_size);
  if (welcome.job.table.transport == "tcp") check_listener(welcome);
  const std::string filler(world_size > 8 ? 10 : 40'000, 'x');
  client.put("from " + std::to_string(rank), filler + std::to_string(rank));
  for (std::size_t peer = 0; peer < world_size; ++peer) {
    const std::string value = client.get("from " + std::to_string(peer), seconds(10));
    require(value == filler + std::to_string(peer), "what a peer put");
  }
  client.barrier("met", seconds(10));
  client.leave();
  return 0;
}

// Joins a large world, and meets the others at a barrier.
int meet(std::size_t rank, std::size_t world_size) {
  Client client = connect();
  const auto welcome = join(client);
  require(welcome.job.rank == rank, "its own rank");
  require(welcome.job.table.rows.size() == world_size, "the whole table");
  client.barrier("met", seconds(60));
  client.leave();
  return 0;
}

// Allocates memory until the kernel has killed some process of this control group for lack of
// memory.
int fill_memory() {
  constexpr std::size_t kPageBytes = 4096;
  constexpr std::size_t kMostPages = std::size_t{1} << 20;
  const auto before = rota::os::oom_kill_count();
  require(before.has_value(), "a control group that counts");
  for (std::size_t i = 0; i < kMostPages && rota::os::oom_kill_count() == before; ++i) {
    void* page =
        ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(page != MAP_FAILED, "a page");
    *static_cast<volatile char*>(page) = 1;
  }
  std::this_thread::sleep_for(seconds(1000));
  return 0;
}

// Checks that a slow rank delays no other rank: the victim requests twelve megabytes and reads them
// late; the others go on meanwhile.
int check_patience(std::size_t rank, std::size_t victim) {
  constexpr int kRequests = 300;
  const int number = static_cast<int>(number_of("ROTA_RENDEZVOUS_FD"));
  Client client = connect();
  join(client);
  client.barrier("start", seconds(10));
  if (rank != victim) {
    client.get("asked", seconds(10));
    client.put(std::to_string(rank), "value");
    require(client.get(std::to_string(rank), seconds(10)) == "value", "an answer in time");
    client.barrier("end", seconds(10));
    return 0;
  }
  client.put("large", std::string(40'000, 'x'));
  for (int i = 0; i < kRequests; ++i) {
    const auto request = rota::rendezvous::encode({.type = rota::rendezvous::MessageType::kGet,
                                                   .id = 1'000'000U + static_cast<unsigned>(i),
                                                   .timeout = seconds(10),
                                                   .key = "large"});
    while (rota::os::send_message(number, request) == rota::os::Io::kWouldBlock) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  client.put("asked", "");
  std::this_thread::sleep_for(milliseconds(300));
  int answered = 0;
  while (answered < kRequests) {
    const auto message = client.next_notice();
    if (!message) std::this_thread::sleep_for(milliseconds(1));
    if (message && message->text.size() == 40'000) ++answered;
  }
  client.barrier("end", seconds(10));
  return 0;
}

void come_to_harm(const std::string& behaviour, Client& client, std::size_t rank) {
  if (behaviour == "own-failure") {
    client.abort(ErrorCode::kNotFinite, std::nullopt, "the loss is NaN");
    std::exit(kOwnCode);
  }
  if (behaviour == "abort-and-hang") {
    client.abort(ErrorCode::kNotFinite, std::nullopt, "the loss is NaN");
  }
  if (behaviour == "mismatch") {
    client.abort(ErrorCode::kMismatch, (rank + 1) % 2, "5 elements here, 6 there");
    std::exit(kOwnCode);
  }
  if (behaviour == "exit0") std::_Exit(0);
  if (behaviour == "exit5") std::_Exit(5);
  if (behaviour == "leave") client.leave();
  if (behaviour == "kill") ::kill(::getpid(), SIGKILL);
  if (behaviour == "stop") ::kill(::getpid(), SIGSTOP);
  if (behaviour == "join-twice") join(client);
  // A rank that gets here stays alive but does not take part: the others wait for this rank until
  // their timeout.
  std::this_thread::sleep_for(seconds(1000));
}

// Waits for the victim, and reports a failed wait as a communicator would.
int wait_for(std::size_t victim, Client& client, milliseconds patience) {
  client.report_waiting(victim);
  try {
    client.barrier("never", patience);
  } catch (const Error& error) {
    client.abort(error.code(), error.code() == ErrorCode::kTimeout ? victim : error.blamed_rank(),
                 error.what());
    std::fprintf(stderr, "member: %s\n", error.what());
  }
  return 1;
}

volatile std::sig_atomic_t typed_interrupts = 0;
volatile std::sig_atomic_t sent_interrupts = 0;

void count_interrupt(int, siginfo_t* info, void*) {
  if (info->si_code == SI_KERNEL) {
    typed_interrupts = typed_interrupts + 1;
  } else {
    sent_interrupts = sent_interrupts + 1;
  }
}

// Prints how many interrupts came within a second, from the terminal and from processes.
int count_interrupts() {
  struct sigaction action {};
  action.sa_sigaction = count_interrupt;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGINT, &action, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  const auto end = rota::base::Clock::now() + seconds(1);
  while (rota::base::Clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  std::printf("typed %d sent %d\n", static_cast<int>(typed_interrupts),
              static_cast<int>(sent_interrupts));
  return 0;
}

// Prints the variables that programs of other frameworks read, as one line.
int tell() {
  std::string line = "torch";
  const auto add = [&](const char* name) {
    const char* value = std::getenv(name);
    line += std::string(" ") + (value ? value : "-");
  };
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
                           "MASTER_ADDR", "MASTER_PORT"}) {
    add(name);
  }
  line += " OMPI";
  for (const char* name : {"RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "NODE_RANK"}) {
    add(("OMPI_COMM_WORLD_" + std::string(name)).c_str());
  }
  add("OMPI_UNIVERSE_SIZE");
  line += " TF";
  add("TF_CONFIG");
  std::puts(line.c_str());
  return 0;
}

// Listens until rotarun ends this rank, like a program that makes its own connections. Rank 0
// listens at MASTER_PORT, and every rank at its port of TF_CONFIG, if there is one.
int listen_where_told(std::size_t rank) {
  std::vector<rota::os::Listener> listeners;
  const auto listen = [&](const std::string& port) {
    listeners.push_back(rota::os::listen_at("[::]:" + port));
  };
  if (rank == 0) listen(std::getenv("MASTER_PORT"));
  const char* variable = std::getenv("TF_CONFIG");
  std::string list = variable ? variable : "";
  for (std::size_t i = 0; i < rank; ++i) list.erase(0, list.find("\",\"") + 1);
  const std::size_t colon = list.find("127.0.0.1:");
  if (colon != std::string::npos) listen(std::to_string(std::stoul(list.substr(colon + 10))));
  std::printf("rank %zu listens at %zu\n", rank, listeners.size());
  std::fflush(stdout);
  std::this_thread::sleep_for(seconds(1000));
  return 0;
}

int run(const std::string& behaviour, std::size_t victim) {
  if (behaviour == "tell") return tell();
  const std::size_t rank = number_of("ROTA_RANK");
  const std::size_t world_size = number_of("ROTA_WORLD_SIZE");
  if (behaviour == "listen") return listen_where_told(rank);
  if (behaviour == "count-interrupts") return count_interrupts();
  if (behaviour == "fill-memory") return fill_memory();
  if (behaviour == "check") return check(rank, world_size);
  if (behaviour == "meet") return meet(rank, world_size);
  const int number = static_cast<int>(number_of("ROTA_RENDEZVOUS_FD"));
  if (behaviour == "deaf") return check_patience(rank, victim);
  if (behaviour == "garbage" && rank == victim) {
    rota::os::send_message(number, std::as_bytes(std::span("not a message")));
    std::this_thread::sleep_for(seconds(1000));
  }
  if (behaviour == "oversize" && rank == victim) {
    const std::string text(100'000, 'x');
    require(::send(number, text.data(), text.size(), 0) > 0, "a large message sent");
    std::this_thread::sleep_for(seconds(1000));
  }
  Client client = connect();
  if (behaviour == "before-join" && rank == victim) ::kill(::getpid(), SIGKILL);
  join(client);
  client.barrier("start", seconds(10));
  if (rank == victim) come_to_harm(behaviour, client, rank);
  return wait_for(victim, client, milliseconds(behaviour == "late" ? 300 : 10'000));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0);
  } catch (const Error& error) {
    std::fprintf(stderr, "member: %s\n", error.what());
    return 1;
  }
}
