// This program is a rank that speaks PMIx itself, where an MPI would do it for the rank. The first
// argument says what it does, and with "publish" a second one says how much:
//
//   late            rank 0 stops the server, finalizes and ends; rank 1 lets the server go on later
//   kill            rank 0 kills the server; all ranks wait
//   publish BYTES   the last rank publishes so many bytes, and all meet in a fence
//   hang            rank 1 never comes to a fence in which rank 0 waits
#include <dirent.h>
#include <pmix.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

struct Stat {
  std::string name;
  int parent = 0;
};

Stat stat_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number;
  std::string state;
  Stat stat;
  file >> number >> stat.name >> state >> stat.parent;
  return stat;
}

// Returns the server of this job. It is a child of rotarun's inner process, as are the keepers,
// each of which is the parent of a rank.
int find_server() {
  const int inner = stat_of(::getppid()).parent;
  DIR* folder = ::opendir("/proc");
  int found = 0;
  while (const dirent* entry = ::readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid == 0) continue;
    const Stat stat = stat_of(pid);
    if (stat.parent == inner && stat.name == "(rotarun-pmix)") found = pid;
  }
  ::closedir(folder);
  return found;
}

// Publishes pieces: the server has no room for a large value.
void publish(std::size_t bytes) {
  constexpr std::size_t kPiece = 1'000'000;
  for (std::size_t begin = 0; begin < bytes; begin += kPiece) {
    std::string text(kPiece, 'x');
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = text.data();
    PMIx_Put(PMIX_GLOBAL, ("text" + std::to_string(begin)).c_str(), &value);
  }
  PMIx_Commit();
}

void fence() {
  pmix_info_t info{};
  std::strncpy(info.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  PMIx_Fence(nullptr, 0, &info, 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string act = argc > 1 ? argv[1] : "";
  pmix_proc_t own{};
  if (PMIx_Init(&own, nullptr, 0) != PMIX_SUCCESS) return 3;
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  const bool is_last = size != nullptr && own.rank + 1 == static_cast<unsigned>(std::atoi(size));
  const int server = find_server();
  if (act == "publish" && is_last) publish(static_cast<std::size_t>(std::atol(argv[2])));
  fence();
  if (act == "late" && own.rank == 0) ::kill(server, SIGSTOP);
  if (act == "late" && own.rank == 1) {
    ::sleep(4);
    ::kill(server, SIGCONT);
  }
  if (act == "kill" && own.rank == 0) ::kill(server, SIGKILL);
  if (act == "kill" || (act == "hang" && own.rank == 1)) ::sleep(60);
  if (act == "hang") fence();
  PMIx_Finalize(nullptr, 0);
  std::printf("%u ends\n", own.rank);
  std::fflush(stdout);
  std::_Exit(0);  // Skips the check for leaks of libpmix.
}
