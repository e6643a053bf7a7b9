// A rank of a job that saves checkpoints. One rank of the job is killed, or hangs, in a call to the
// file system. Usage: checkpoint_crash_ranks FOLDER MODE RANK CALL [HOSTS], with one of these
// modes:
//   save     restores, and saves two checkpoints; RANK is killed before call CALL of the second.
//   first    restores, and saves a checkpoint; RANK is killed before call CALL of this checkpoint.
//   restore  RANK is killed before call CALL of its start, in which it restores.
//   hold     saves a checkpoint, and goes on until FOLDER.end is there.
//   hang     as save, but call CALL of RANK never ends.
// CALL counts only calls for FOLDER, from 1 on. Each rank says which step it has restored. HOSTS
// has a letter for each rank: the host that keeps a copy for it, such as "aab". Without HOSTS, all
// ranks share FOLDER.
#include <rota/checkpoint.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include <rota/communicator.h>
#include <rota/error.h>

#include "checkpoint/hosts_of_ranks.h"
#include "checkpoint/toy_run.h"
#include "checkpoint/watched_calls.h"

namespace {

namespace fs = std::filesystem;
using rota::Checkpointer;
using rota::Communicator;
using rota::testing::FileCall;
using rota::testing::ToyRun;

constexpr int kOther = 9;
constexpr int kCannotWrite = 73;

struct Arguments {
  std::string folder;
  std::string mode;
  std::size_t rank = 0;
  std::size_t call = 0;
  std::string hosts;
};

void fail_at_call(const Arguments& arguments) {
  const bool hangs = arguments.mode == "hang";
  const auto before = [left = arguments.call, hangs](const FileCall&) mutable {
    while (left == 1 && hangs) ::pause();
    if (left == 1) ::kill(::getpid(), SIGKILL);
    if (left > 0) --left;
  };
  rota::testing::watch_calls({.folder = arguments.folder, .before = before});
}

// Throws unless the run has all values of the step, and interrupted saves have left nothing.
void check(const ToyRun& run, const rota::Restored& restored, std::size_t rank,
           const fs::path& folder) {
  ToyRun expected;
  if (!restored.is_fresh) expected.fill(static_cast<double>(restored.step), rank);
  if (run != expected) throw std::runtime_error("other values than those of the step");
  if (!restored.note.empty()) throw std::runtime_error(restored.note);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.')) throw std::runtime_error("there still is " + name);
  }
}

void save(Checkpointer& checkpointer, ToyRun& run, std::uint64_t step, std::size_t rank) {
  run.fill(static_cast<double>(step), rank);
  checkpointer.save(step);
  checkpointer.finish(step);
}

void train(Communicator& communicator, const Arguments& arguments) {
  const std::size_t rank = communicator.rank();
  const rota::testing::HostsOfRanks placed{arguments.folder, arguments.hosts};
  rota::CheckpointOptions options;
  options.folder = placed.folder_of(rank);
  options.storage = placed.storage();
  options.keep = 1;
  options.owner_wait = std::chrono::seconds(2);
  const bool is_victim = rank == arguments.rank;
  // The other ranks are still waiting when the rank that hangs ends, even on a busy machine.
  if (arguments.mode == "hang") options.save_timeout = std::chrono::seconds(is_victim ? 15 : 50);
  if (is_victim && arguments.mode == "restore") fail_at_call(arguments);
  ToyRun run;
  Checkpointer checkpointer(communicator, options, run.visitor());
  const rota::Restored restored = checkpointer.restore();
  if (is_victim) rota::testing::watch_calls({});
  communicator.barrier();
  check(run, restored, rank, options.folder);
  std::printf("restored %llu\n", static_cast<unsigned long long>(restored.step));
  std::fflush(stdout);
  communicator.barrier();
  if (arguments.mode == "restore") return;

  if (is_victim && arguments.mode == "first") fail_at_call(arguments);
  save(checkpointer, run, restored.step + 1, rank);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  if (arguments.mode == "first") return;
  while (arguments.mode == "hold" && !fs::exists(arguments.folder + ".end")) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("held for 60 s");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (is_victim) fail_at_call(arguments);
  save(checkpointer, run, restored.step + 2, rank);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc > 6) return 2;
  try {
    Communicator communicator;
    train(communicator,
          {argv[1], argv[2], std::stoul(argv[3]), std::stoul(argv[4]), argc == 6 ? argv[5] : ""});
    return 0;
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.code() == rota::ErrorCode::kCannotWrite ? kCannotWrite : kOther;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kOther;
  }
}
