// rotarun-pmix is the PMIx server of one host: Open MPI programs that rotarun starts find each
// other through it. rotarun starts one for a job with such programs, and talks with it over a local
// socket. libpmix has threads, and takes longer to load than rotarun takes to run a job, so it is
// in a process of its own.
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "base/time.h"
#include "launcher/pmix/pmix_server.h"
#include "launcher/pmix/quick_acks.h"
#include "launcher/pmix/wire/pmix_link.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/poll_set.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

// Sends a message before it returns. rotarun reads all the time, and if it is gone, nothing waits.
void send_now(PmixLink& link, const PmixMessage& message) {
  link.send(message);
  for (link.send_all(); link.is_open() && !link.is_quiet(); link.send_all()) {
    os::PollSet polls;
    polls.add(link.fd(), false, true);
    polls.wait(std::nullopt);
  }
}

// Waits for the job. Returns nothing if rotarun has gone.
std::optional<PmixJob> receive_job(PmixLink& link) {
  while (link.is_open()) {
    os::PollSet polls;
    link.add_to(polls);
    polls.wait(std::nullopt);
    for (const PmixMessage& message : link.receive()) {
      if (message.type == PmixMessageType::kJob) return decode_pmix_job(message.text);
    }
  }
  return std::nullopt;
}

// Serves the ranks until rotarun closes the connection, or is gone.
void serve(PmixLink& link, PmixServer& server) {
  QuickAcks acks;
  while (link.is_open()) {
    os::PollSet polls;
    link.add_to(polls);
    polls.add(Upcalls::of_process().fd(), true, false);
    polls.wait(acks.next());
    const base::TimePoint now = base::Clock::now();
    acks.ask(now);
    const std::size_t upcalls = server.hear_upcalls();
    const std::vector<PmixMessage> messages = link.receive();
    for (const PmixMessage& message : messages) server.hear(message);
    if (upcalls + messages.size() > 0) acks.on_event(now);
  }
}

int run(os::Fd socket) {
  PmixLink link(std::move(socket));
  try {
    auto job = receive_job(link);
    if (!job) return 1;
    PmixServer server(std::move(*job),
                      [&](const PmixMessage& message) { send_now(link, message); });
    server.send_environments();
    serve(link, server);
  } catch (const std::exception& error) {
    send_now(link, {.type = PmixMessageType::kFailed, .text = error.what()});
    return 1;
  }
  return 0;
}

// Returns the descriptor that the argument names; -1 if it names no message socket.
int to_socket(std::string_view argument) {
  int number = -1;
  const auto end = argument.data() + argument.size();
  const auto parsed = std::from_chars(argument.data(), end, number);
  return parsed.ptr == end && os::is_message_socket(number) ? number : -1;
}

}  // namespace
}  // namespace rota::launcher

int main(int argc, char** argv) {
  using namespace rota;
  const int socket = argc == 2 ? launcher::to_socket(argv[1]) : -1;
  if (socket < 0) {
    std::fputs("rotarun-pmix is started by rotarun, with --mpi pmix\n", stderr);
    return 2;
  }
  // The process ends when its connection does, and not with rotarun: it then removes its files.
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    std::signal(signal, SIG_IGN);
  }
  os::die_with_parent(os::parent_process(), 0);
  os::close_on_exec(socket);
  return launcher::run(os::Fd(socket));
}
