// A PmixServer makes this process the PMIx server of the ranks of one host: it makes the
// environments with which MPI programs find it, and answers what they ask.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launcher/pmix/upcalls.h"
#include "launcher/pmix/wire/pmix_message.h"

namespace rota::launcher {

class PmixServer {
 public:
  // Sends a message to rotarun before it returns.
  using Send = std::function<void(const PmixMessage& message)>;

  // Begins to listen for the ranks. Throws Error kSystem if libpmix cannot.
  PmixServer(PmixJob job, Send send);
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;

  // Removes the job's folders.
  ~PmixServer();

  // Sends the environments of all ranks of this host. Throws Error kSystem.
  void send_environments();

  // Handles upcalls, and a message of rotarun. hear_upcalls() returns how many upcalls there were.
  std::size_t hear_upcalls();
  void hear(const PmixMessage& message);

 private:
  void register_job();
  void register_ranks();
  void on_fenced(PmixFence fence);
  void on_wanted(std::uint32_t rank, int number);
  void answer(int number, pmix_status_t status, std::string data);

  PmixJob job_;
  Send send_;
  using FenceKey = std::pair<std::vector<std::uint32_t>, std::uint32_t>;
  std::map<FenceKey, Upcall> fences_;  // Not answered yet.
  std::map<int, Upcall> requests_;     // Not answered yet.
  int next_number_ = 0;
};

}  // namespace rota::launcher
