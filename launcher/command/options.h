// The command line of rotarun.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/transports.h"
#include "launcher/command/groups.h"

namespace rota::launcher {

enum class BindTo { kNone, kCore, kNuma };
enum class MapBy { kSlot, kNode, kFixedPerNode, kCore, kNuma };
enum class RankBy { kSlot, kNode };
enum class WhenDone { kExit, kWait };

// Those that the job's sockets may listen at, both ends included.
struct PortRange {
  std::uint16_t first = 7700;
  std::uint16_t last = 7955;
};

struct Options {
  std::vector<Group> groups = std::vector<Group>(1);  // One or more.
  std::optional<std::size_t> rank_count;  // Of all groups; empty: as many as there are slots.
  std::optional<BindTo> bind_to;          // Empty: as map_by implies.
  MapBy map_by = MapBy::kSlot;
  std::size_t ranks_per_node = 0;  // Of kFixedPerNode.
  RankBy rank_by = RankBy::kSlot;
  std::optional<std::size_t> cpus_per_rank;  // Empty: nobody counts them.
  bool oversubscribe = false;
  bool allow_mpi = false;  // Programs of MPI's too, each rank of which is a world of one there.
  bool report_bindings = false;
  PortRange ports;
  bool tag_output = false;
  bool timestamp_output = false;
  bool gather_output = false;
  std::string output_directory;  // Empty: no files.
  std::optional<base::Duration> timeout;
  base::Duration deadline = std::chrono::seconds(60);
  std::optional<base::Duration> grace;  // Empty: as exit_policy.h has it.
  // What was asked for; null: as where ranks are makes it.
  const base::TransportRow* transport = nullptr;
  std::string tuned_file;                      // What plans are chosen by; empty: no file.
  std::optional<std::string> host_list;        // "a:2,b:2"
  std::optional<std::string> hostfile;         // Its path.
  std::string key_file;                        // Empty: found in one of the usual places.
  std::optional<int> key_fd;                   // Where the key is read from in place of a file.
  bool encrypt = false;                        // What goes over TCP.
  bool insecure = false;                       // No key is needed, on loopback.
  std::optional<base::Duration> join_timeout;  // For hosts to find each other.
  std::string agent;    // Starts rotarun on other hosts; empty: ssh, or srun.
  std::string prefix;   // Where rotarun is installed there; empty: where this one is.
  std::string address;  // By which hosts that are started reach this one; empty: found out.
  bool follow = false;
  bool this_host = false;
  bool show_ranks = false;
  bool preflight = false;
  bool json = false;  // The form of show_ranks and of preflight.
  WhenDone when_done = WhenDone::kExit;
  std::optional<std::string> status_address;  // "127.0.0.1:8080": numeric.
  bool explain = false;
  bool verbose = false;
  bool version = false;
  bool help = false;
};

// The command line makes no sense; the text says what to write instead.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// `arguments` without argv[0]. Options end at the first argument that is none, or at "--"; a
// program ends at ":", after which the options and the program of another group follow.
// `environment` has ROTA_PORTS, for where --ports is not given, ROTA_ENCRYPT and
// ROTA_TUNED. Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment = {});

// What --help prints.
std::string help_text();

}  // namespace rota::launcher
