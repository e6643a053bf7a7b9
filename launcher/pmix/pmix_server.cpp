// Runs libpmix as a server: registers the job and its ranks, and carries fences and requests for
// data between libpmix and rotarun.
#include "launcher/pmix/pmix_server.h"

#include <pmix.h>
#include <pmix_server.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>
#include <system_error>

#include <rota/error.h>

#include "launcher/pmix/info_list.h"

namespace rota::launcher {
namespace {

void require(pmix_status_t status, const std::string& what) {
  if (status == PMIX_SUCCESS) return;
  throw Error(ErrorCode::kSystem, "PMIx cannot " + what + ": " + PMIx_Error_string(status));
}

// Waits for the end of an operation of libpmix. `begin` gets the function to call at the end, and
// its argument. An operation may end at once, and then calls no function.
template <class Begin>
void complete(const std::string& what, const Begin& begin) {
  std::promise<pmix_status_t> end;
  const pmix_op_cbfunc_t on_end = [](pmix_status_t status, void* context) {
    static_cast<std::promise<pmix_status_t>*>(context)->set_value(status);
  };
  const pmix_status_t begun = begin(on_end, static_cast<void*>(&end));
  if (begun == PMIX_OPERATION_SUCCEEDED) return;
  require(begun, what);
  require(end.get_future().get(), what);
}

pmix_proc_t process_of(const PmixJob& job, pmix_rank_t rank) {
  pmix_proc_t process{};
  std::ranges::copy(job.name, process.nspace);
  process.rank = rank;
  return process;
}

std::string join(const std::vector<std::string>& words, char between) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : std::string(1, between)) + word;
  return text;
}

std::string list(const std::vector<std::uint32_t>& ranks) {
  std::vector<std::string> numbers;
  numbers.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) numbers.push_back(std::to_string(rank));
  return join(numbers, ',');
}

// Returns the compressed form of a list that `compress`, a function of libpmix, makes.
std::string compressed(pmix_status_t (*compress)(const char*, char**), const std::string& text) {
  char* made = nullptr;
  require(compress(text.c_str(), &made), "describe the hosts");
  const std::unique_ptr<char, void (*)(void*)> owner(made, std::free);
  return made;
}

std::uint32_t count_ranks(const PmixJob& job) {
  std::size_t count = 0;
  for (const PmixNode& node : job.nodes) count += node.ranks.size();
  return static_cast<std::uint32_t>(count);
}

// Describes each rank of the world. Given one such list, libpmix no longer derives the others from
// the maps. A rank asks only for the program number of its own.
std::deque<InfoList> describe_ranks(const PmixJob& job) {
  std::deque<InfoList> lists;
  for (std::uint32_t node = 0; node < job.nodes.size(); ++node) {
    const std::vector<std::uint32_t>& ranks = job.nodes[node].ranks;
    for (std::size_t local = 0; local < ranks.size(); ++local) {
      InfoList& list = lists.emplace_back();
      list.add_rank(PMIX_RANK, ranks[local]);
      list.add(PMIX_HOSTNAME, job.nodes[node].name);
      list.add(PMIX_NODEID, node);
      list.add_number(PMIX_LOCAL_RANK, static_cast<std::uint16_t>(local));
      list.add_number(PMIX_NODE_RANK, static_cast<std::uint16_t>(local));
      if (node == job.own_node) list.add(PMIX_APPNUM, job.programs[local]);
    }
  }
  return lists;
}

// Gives data to libpmix, which frees it by the second function.
void give(const Upcall& upcall, pmix_status_t status, std::string data) {
  auto* owned = new std::string(std::move(data));
  upcall.answer(
      status, owned->data(), owned->size(), upcall.context,
      [](void* given) { delete static_cast<std::string*>(given); }, owned);
}

}  // namespace

PmixServer::PmixServer(PmixJob job, Send send) : job_(std::move(job)), send_(std::move(send)) {
  InfoList infos;
  infos.add(PMIX_SERVER_NSPACE, job_.name + "-server");
  infos.add_rank(PMIX_SERVER_RANK, job_.own_node);
  infos.add(PMIX_SERVER_TMPDIR, job_.folder);
  infos.add(PMIX_SYSTEM_TMPDIR, job_.folder);
  infos.add(PMIX_HOSTNAME, job_.nodes[job_.own_node].name);
  infos.add(PMIX_SERVER_SHARE_TOPOLOGY, true);
  require(PMIx_server_init(Upcalls::of_process().module(count_ranks(job_)), infos.data(),
                           infos.count()),
          "start a server");
  Upcalls::of_process().watch_connections();
  register_job();
  register_ranks();
}

PmixServer::~PmixServer() {
  PMIx_server_finalize();
  std::error_code ignored;
  std::filesystem::remove_all(job_.folder, ignored);
  if (!job_.memory_folder.empty()) std::filesystem::remove_all(job_.memory_folder, ignored);
}

void PmixServer::register_job() {
  const std::string folder = job_.folder + "/job";
  std::error_code ignored;
  std::filesystem::create_directory(folder, ignored);  // PMIx 5 writes there without making it.
  std::vector<std::string> names;
  std::vector<std::string> ranks;
  for (const PmixNode& node : job_.nodes) {
    names.push_back(node.name);
    ranks.push_back(list(node.ranks));
  }
  const PmixNode& own = job_.nodes[job_.own_node];
  const std::uint32_t world_size = count_ranks(job_);
  InfoList infos;
  infos.add(PMIX_NODE_MAP, compressed(PMIx_generate_regex, join(names, ',')));
  infos.add(PMIX_PROC_MAP, compressed(PMIx_generate_ppn, join(ranks, ';')));
  infos.add(PMIX_JOB_SIZE, world_size);
  infos.add(PMIX_UNIV_SIZE, world_size);
  infos.add(PMIX_MAX_PROCS, world_size);
  infos.add(PMIX_LOCAL_SIZE, static_cast<std::uint32_t>(own.ranks.size()));
  infos.add(PMIX_LOCAL_PEERS, list(own.ranks));
  infos.add(PMIX_NUM_NODES, static_cast<std::uint32_t>(job_.nodes.size()));
  std::deque<InfoList> of_ranks = describe_ranks(job_);
  for (InfoList& of_rank : of_ranks) infos.add(PMIX_PROC_INFO_ARRAY, of_rank);
  infos.add(PMIX_JOBID, job_.name);
  infos.add(PMIX_TMPDIR, job_.folder);
  infos.add(PMIX_NSDIR, folder);
  infos.add(PMIX_TDIR_RMCLEAN, true);  // rotarun removes the folder.
  complete("register the job", [&](pmix_op_cbfunc_t on_end, void* context) {
    return PMIx_server_register_nspace(job_.name.c_str(), static_cast<int>(own.ranks.size()),
                                       infos.data(), infos.count(), on_end, context);
  });
}

void PmixServer::register_ranks() {
  for (const std::uint32_t rank : job_.nodes[job_.own_node].ranks) {
    const pmix_proc_t process = process_of(job_, rank);
    complete("register rank " + std::to_string(rank), [&](pmix_op_cbfunc_t on_end, void* context) {
      return PMIx_server_register_client(&process, job_.user, job_.group, nullptr, on_end, context);
    });
  }
}

void PmixServer::send_environments() {
  for (const std::uint32_t rank : job_.nodes[job_.own_node].ranks) {
    const pmix_proc_t process = process_of(job_, rank);
    char** made = nullptr;
    require(PMIx_server_setup_fork(&process, &made), "make an environment");
    std::vector<std::string> variables;
    for (char** variable = made; variable != nullptr && *variable != nullptr; ++variable) {
      variables.emplace_back(*variable);
      std::free(*variable);
    }
    std::free(made);
    send_(
        {.type = PmixMessageType::kEnvironment, .rank = rank, .text = encode_variables(variables)});
  }
}

std::size_t PmixServer::hear_upcalls() {
  std::vector<Upcall> upcalls = Upcalls::of_process().take();
  for (Upcall& upcall : upcalls) {
    if (upcall.message.type == PmixMessageType::kFence) {
      const auto fence = decode_pmix_fence(upcall.message.text);
      if (fence) fences_[{fence->ranks, fence->number}] = upcall;
    }
    if (upcall.message.type == PmixMessageType::kWanted && upcall.answer != nullptr) {
      upcall.message.value = next_number_++;
      requests_[upcall.message.value] = upcall;
    }
    send_(upcall.message);
    if (upcall.done != nullptr) upcall.done(PMIX_SUCCESS, upcall.context);
  }
  return upcalls.size();
}

void PmixServer::hear(const PmixMessage& message) {
  switch (message.type) {
    case PmixMessageType::kFenced:
      if (auto fence = decode_pmix_fence(message.text)) on_fenced(std::move(*fence));
      return;
    case PmixMessageType::kWanted:
      return on_wanted(message.rank, message.value);
    case PmixMessageType::kFound:
      return answer(message.value, PMIX_SUCCESS, message.text);
    case PmixMessageType::kMissing:
      return answer(message.value, PMIX_ERR_NOT_FOUND, "");
    default:
      return;
  }
}

void PmixServer::on_fenced(PmixFence fence) {
  const auto found = fences_.find({fence.ranks, fence.number});
  if (found == fences_.end()) return;
  const Upcall upcall = found->second;
  fences_.erase(found);
  give(upcall, PMIX_SUCCESS, std::move(fence.data));
}

void PmixServer::answer(int number, pmix_status_t status, std::string data) {
  const auto found = requests_.find(number);
  if (found == requests_.end()) return;
  const Upcall upcall = found->second;
  requests_.erase(found);
  give(upcall, status, std::move(data));
}

// Asks libpmix for the data of a rank of this host. libpmix answers in its own thread once the rank
// has put the data, so the answer is queued as an upcall.
void PmixServer::on_wanted(std::uint32_t rank, int number) {
  const pmix_proc_t process = process_of(job_, rank);
  auto owned_number = std::make_unique<int>(number);
  const pmix_dmodex_response_fn_t on_answer = [](pmix_status_t status, char* data,
                                                 std::size_t count, void* context) {
    const std::unique_ptr<int> asked(static_cast<int*>(context));
    PmixMessage message{.type = PmixMessageType::kMissing, .value = *asked};
    if (status == PMIX_SUCCESS) {
      message.type = PmixMessageType::kFound;
      if (data != nullptr) message.text.assign(data, count);
    }
    Upcalls::of_process().push({.message = std::move(message)});
  };
  const pmix_status_t begun = PMIx_server_dmodex_request(&process, on_answer, owned_number.get());
  if (begun == PMIX_SUCCESS) {
    (void)owned_number.release();
    return;
  }
  send_({.type = PmixMessageType::kMissing, .value = number});
}

}  // namespace rota::launcher
