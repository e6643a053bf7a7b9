// One rank of a job in which one rank fails: fault_ranks KIND VICTIM MOMENT
//   KIND    kill (SIGKILL), stop (SIGSTOP), segv, exit3, exit0, abort (Communicator::abort)
//   MOMENT  "join": before joining; or microseconds after joining, in the middle of all-reduces
// The victim prints the time of the failure on stderr: "harm at 123456789", by the monotonic clock.
// It also makes the file HARM_FILE, if it is given: a launcher may end before it passes the line
// on. Without rotarun, DEADLINE_SECONDS and JOIN_SECONDS say how long a rank waits for the others.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>

namespace {

void come_to_harm(const std::string& kind) {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  if (const char* file = std::getenv("HARM_FILE")) std::ofstream{file};
  std::fprintf(stderr, "harm at %lld\n", static_cast<long long>(now.count()));
  if (kind == "kill") ::kill(::getpid(), SIGKILL);
  if (kind == "stop") ::kill(::getpid(), SIGSTOP);
  if (kind == "segv") {
    std::signal(SIGSEGV, SIG_DFL);  // A sanitizer would turn the signal into an exit code.
    ::kill(::getpid(), SIGSEGV);
  }
  if (kind == "exit3") ::_exit(3);
  if (kind == "exit0") ::_exit(0);
}

// Returns the rank that the launcher has given to this process, whichever launcher it is.
std::optional<std::size_t> own_rank() {
  for (const char* name :
       {"ROTA_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::strtoul(rank, nullptr, 10);
  }
  return std::nullopt;
}

rota::CommunicatorOptions options_of_test() {
  rota::CommunicatorOptions options = rota::CommunicatorOptions::from_environment();
  if (const char* text = std::getenv("DEADLINE_SECONDS")) {
    options.deadline = std::chrono::seconds(std::atoi(text));
  }
  if (const char* text = std::getenv("JOIN_SECONDS")) {
    options.join_timeout = std::chrono::seconds(std::atoi(text));
  }
  return options;
}

void train_for(rota::Communicator& communicator, std::chrono::microseconds time) {
  std::vector<float> values(50000);
  const rota::Block block = communicator.allocate(200000);
  const std::span shared(reinterpret_cast<float*>(block.bytes().data()), 50000);
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    communicator.all_reduce(values, rota::ReduceOp::kMean);
    communicator.all_reduce_async(shared, rota::ReduceOp::kMean).wait();
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string kind = argv[1];
  const std::size_t victim = std::strtoul(argv[2], nullptr, 10);
  const std::string moment = argv[3];
  const bool is_victim = own_rank() == victim;
  std::thread harm;
  try {
    if (is_victim && moment == "join") come_to_harm(kind);
    rota::Communicator communicator(options_of_test());
    const std::chrono::microseconds delay(std::strtol(moment.c_str(), nullptr, 10));
    if (is_victim && kind == "abort") {
      train_for(communicator, delay);
      come_to_harm(kind);
      communicator.abort("the disk is full");
    } else if (is_victim) {
      harm = std::thread([kind, delay] {
        std::this_thread::sleep_for(delay);
        come_to_harm(kind);
      });
    }
    train_for(communicator, std::chrono::seconds(60));
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(stderr);
    ::_exit(1);  // The victim's timer may still be running.
  }
}
