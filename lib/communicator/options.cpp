// Builds a communicator's options from the environment, and reads the role of the process. No other
// file of lib/communicator reads the environment.
#include <rota/options.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <rota/error.h>
#include <rota/role.h>

#include "auth/key_file.h"
#include "base/time.h"
#include "cluster/environment.h"
#include "cluster/meeting_point.h"
#include "cluster/one_rank.h"
#include "cluster/reading.h"
#include "cluster/sources/slurm_step.h"
#include "communicator/listening_ports.h"
#include "communicator/memory_need.h"
#include "os/address.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "stores/pmix_store.h"

namespace rota {
namespace {

std::optional<int> read_rendezvous_fd() {
  const char* text = std::getenv("ROTA_RENDEZVOUS_FD");
  if (!text) return std::nullopt;
  int number = -1;
  const char* end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "ROTA_RENDEZVOUS_FD is '" + std::string(text) + "', not a descriptor's number");
  }
  return number;
}

bool read_encrypt() {
  const char* text = std::getenv("ROTA_ENCRYPT");
  const auto is_on = cluster::parse_switch(text ? text : "");
  if (is_on) return *is_on;
  throw Error(ErrorCode::kInvalidArgument,
              "ROTA_ENCRYPT is '" + std::string(text) + "', not 1 or 0");
}

// Prints rank 0's remarks about its cluster to stderr, once per process.
void say_once(const cluster::Specification& own) {
  static std::atomic_flag said;
  if (own.rank != std::size_t{0} || own.remarks.empty() || said.test_and_set()) return;
  for (const std::string& remark : own.remarks) std::fprintf(stderr, "rota: %s\n", remark.c_str());
}

cluster::Given given_to_program() {
  return {.environment = cluster::Environment(os::environment()),
          .host_name = os::host_name(),
          .asker = cluster::Asker::kProgram};
}

// What TF_CONFIG says, which must be set. The other sources are checked against it.
cluster::Specification read_tf_config() {
  const cluster::Reading reading = cluster::read(given_to_program());
  return *std::ranges::find(reading.statements, "TF_CONFIG", &cluster::Statement::source)
              ->specification;
}

// TF_CONFIG has the address of every task. Each task is a process, so no launcher is needed. The
// other sources tell at most where rank 0 is; they are checked against TF_CONFIG. A process that
// rotarun starts in addition to its ranks is a world of one.
std::optional<JobByHand> read_job_of_tasks() {
  const cluster::Specification own = read_tf_config();
  const cluster::Host& host = own.hosts[*own.own_host];
  if (host.role == cluster::Role::kParameterServer) {
    throw Error(ErrorCode::kInvalidArgument,
                "TF_CONFIG makes this process a parameter server, " +
                    cluster::name_of(own, *own.own_host) +
                    ": rota needs none, and no worker waits for it, so it can exit");
  }
  say_once(own);
  if (!own.rank || *own.world_size == 1) return std::nullopt;
  return JobByHand{.table = cluster::make_table(own, 1), .rank = *own.rank, .key = shared_key()};
}

// Returns JobByHand::meeting for a launcher that has a store, or an empty text. If all ranks are on
// one machine, they need no store, and so no libpmix.
std::string store_of(const cluster::Specification& own, const cluster::Environment& environment) {
  const auto is_served = [&](const char* job) {
    return cluster::is_served(own, environment, environment.text(job));
  };
  if (environment.has("PMIX_RANK") && environment.has("PMIX_NAMESPACE") &&
      is_served("PMIX_NAMESPACE")) {
    if (!cluster::are_on_one_machine(own) || stores::has_pmix_library()) return "pmix";
  }
  const std::string* fd = environment.find("PMI_FD");
  if (!fd) return "";
  return !cluster::is_own_pmi(environment) || is_served("PMI_JOBID") ? "pmi:" + *fd : "";
}

std::string meeting_of(const cluster::Specification& own, const cluster::Given& given,
                       bool has_key) {
  const auto point = cluster::meeting_point(own, given, has_key);
  if (!point) {
    throw Error(ErrorCode::kInvalidArgument,
                own.source + " says " + cluster::to_text(own) + cluster::ask_for_first());
  }
  const bool is_ipv6 = point->name.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + point->name + "]" : point->name) + ":" +
         std::to_string(point->port.value_or(cluster::usual_port(given.environment)));
}

// A launcher such as mpirun has started this process as one of its ranks. The launcher may have a
// store, through which ranks find each other.
std::optional<JobByHand> read_job_of_launcher() {
  const cluster::Given given = given_to_program();
  if (!cluster::is_started_as_rank(given)) return std::nullopt;
  cluster::Specification own = cluster::read(given).chosen;
  if (!own.world_size) {
    const stores::PmixStore server(base::Clock::now() + stores::kServerPatience);
    own.world_size = server.world_size();
    own.local_world_size = server.local_world_size();
  }
  say_once(own);
  if (*own.world_size == 1) return std::nullopt;
  JobByHand job{.rank = *own.rank, .meeting = store_of(own, given.environment)};
  job.id = cluster::job_id_of(own, given);
  job.table.source = own.source;
  job.table.epoch = own.epoch.value_or(0);
  job.table.rows.resize(*own.world_size);
  if (cluster::are_on_one_machine(own)) {
    for (RankRow& row : job.table.rows) row.host = cluster::machine_of(own, given);
  }
  const bool has_store = !job.meeting.empty();
  const bool names_key = !given.environment.text("ROTA_KEY_FILE").empty();
  if (!has_store) job.meeting = meeting_of(own, given, names_key);
  // A key file in a usual place is for ranks that have no other way to a key.
  const bool needs_key = !has_store && !job.meeting.starts_with(os::kLocalSign);
  if (needs_key || names_key) job.key = shared_key();
  return job;
}

std::optional<JobByHand> read_job() {
  if (std::getenv("ROTA_ROLE")) return std::nullopt;
  return std::getenv("TF_CONFIG") ? read_job_of_tasks() : read_job_of_launcher();
}

bool is_meant_to_be_alone() {
  const char* world = std::getenv("ROTA_WORLD");
  return world && std::string_view(world) == "1";
}

}  // namespace

CommunicatorOptions CommunicatorOptions::from_environment() {
  CommunicatorOptions options;
  options.rendezvous_fd = read_rendezvous_fd();
  // A process that a rank starts inherits the rank's environment, but not the rank's descriptor. So
  // in that process, ROTA_RENDEZVOUS_FD may name another descriptor, and TF_CONFIG is the rank's.
  const bool is_rank = options.rendezvous_fd && os::is_message_socket(*options.rendezvous_fd);
  const bool has_own_tasks = std::getenv("TF_CONFIG") && !options.rendezvous_fd;
  if (!is_rank && is_meant_to_be_alone()) options.rendezvous_fd.reset();
  const bool is_to_be_alone = is_meant_to_be_alone() && !has_own_tasks;
  if (!options.rendezvous_fd && !is_to_be_alone) options.by_hand = read_job();
  const bool is_placed = options.rendezvous_fd || options.by_hand;
  if (!is_placed && !is_meant_to_be_alone() && !std::getenv("ROTA_ROLE")) {
    options.one_of_several = cluster::sign_of_several(cluster::Environment(os::environment()));
  }
  options.encrypt = read_encrypt();
  if (const char* path = std::getenv("ROTA_TUNED")) options.tuned_file = path;
  if (const char* path = std::getenv("ROTA_MPI_LIBRARY")) options.mpi_library = path;
  return options;
}

std::optional<base::PortRange> listening_ports(const CommunicatorOptions& options) {
  if (!options.ports.empty()) return cluster::to_ports("CommunicatorOptions::ports", options.ports);
  const char* text = std::getenv("ROTA_PORTS");
  if (!text || *text == '\0') return std::nullopt;
  return cluster::to_ports("ROTA_PORTS", text);
}

// The ranks of rotarun have a TF_CONFIG too, for programs of other frameworks.
Role role() {
  if (const char* text = std::getenv("ROTA_ROLE")) {
    const std::string_view name = text;
    if (name == "evaluator") return Role::kEvaluator;
    if (name == "worker") return Role::kWorker;
    throw Error(ErrorCode::kInvalidArgument,
                "ROTA_ROLE is '" + std::string(name) + "': expected worker or evaluator");
  }
  if (std::getenv("ROTA_RENDEZVOUS_FD") || !std::getenv("TF_CONFIG")) return Role::kWorker;
  const cluster::Specification own = read_tf_config();
  const bool is_evaluator = own.hosts[*own.own_host].role == cluster::Role::kEvaluator;
  return is_evaluator ? Role::kEvaluator : Role::kWorker;
}

bool is_beside_ranks() noexcept { return std::getenv("ROTA_ROLE") != nullptr; }

bool is_in_pod() { return std::getenv("KUBERNETES_SERVICE_HOST") != nullptr; }

std::string shared_key() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  const auto path = auth::find_key_file({.named = value("ROTA_KEY_FILE"), .home = value("HOME")});
  if (!path) return {};
  const auth::SharedKey key = auth::read_key_file(*path);
  return {reinterpret_cast<const char*>(key.bytes().data()), key.bytes().size()};
}

}  // namespace rota
