// The one place where the library reads the environment.
#include <rota/options.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <rota/error.h>

#include "auth/key_file.h"
#include "cluster/environment.h"
#include "cluster/one_rank.h"
#include "cluster/reading.h"
#include "communicator/memory_need.h"
#include "os/host.h"
#include "os/message_socket.h"

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

// What rank 0 found odd about its cluster, on stderr, once a process.
void say_once(const cluster::Specification& own) {
  static std::atomic_flag said;
  if (own.rank != std::size_t{0} || own.remarks.empty() || said.test_and_set()) return;
  for (const std::string& remark : own.remarks) std::fprintf(stderr, "rota: %s\n", remark.c_str());
}

// TF_CONFIG has the address of every task, each of them a process, so that it needs no launcher.
// The other sources say where rank 0 is at most; they are held against it.
// What rotarun has started beside its ranks is alone.
std::optional<JobByHand> read_job() {
  if (!std::getenv("TF_CONFIG") || std::getenv("ROTA_ROLE")) return std::nullopt;
  const cluster::Reading reading =
      cluster::read({.environment = cluster::Environment(os::environment()),
                     .host_name = os::host_name(),
                     .asker = cluster::Asker::kProgram});
  const auto statement =
      std::ranges::find(reading.statements, "TF_CONFIG", &cluster::Statement::source);
  const cluster::Specification& own = *statement->specification;
  const cluster::Host& host = own.hosts[*own.own_host];
  if (host.role == cluster::Role::kParameterServer) {
    throw Error(ErrorCode::kInvalidArgument,
                "TF_CONFIG makes this process a parameter server, " +
                    cluster::name_of(own, *own.own_host) +
                    ": a ring needs none, and no worker waits for it, so it can exit");
  }
  say_once(own);
  if (!own.rank || *own.world_size == 1) return std::nullopt;
  return JobByHand{.table = cluster::make_table(own, 1), .rank = *own.rank, .key = shared_key()};
}

bool is_meant_to_be_alone() {
  const char* world = std::getenv("ROTA_WORLD");
  return world && std::string_view(world) == "1";
}

}  // namespace

CommunicatorOptions CommunicatorOptions::from_environment() {
  CommunicatorOptions options;
  options.rendezvous_fd = read_rendezvous_fd();
  // A rank's environment goes on to what it starts by itself, and its descriptor does not.
  const bool is_rank = options.rendezvous_fd && os::is_message_socket(*options.rendezvous_fd);
  if (!is_rank && is_meant_to_be_alone()) options.rendezvous_fd.reset();
  if (!options.rendezvous_fd) options.by_hand = read_job();
  if (!options.rendezvous_fd && !is_meant_to_be_alone() && !std::getenv("ROTA_ROLE")) {
    options.one_of_several = cluster::sign_of_several(cluster::Environment(os::environment()));
  }
  options.encrypt = read_encrypt();
  if (const char* path = std::getenv("ROTA_TUNED")) options.tuned_file = path;
  return options;
}

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
