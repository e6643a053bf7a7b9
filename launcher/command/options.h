// Parses the command line of rotarun into options.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/port_range.h"
#include "base/time.h"
#include "base/transports.h"
#include "launcher/command/groups.h"

namespace rota::launcher {

enum class BindTo { kNone, kCore, kNuma };
enum class MapBy { kSlot, kNode, kFixedPerNode, kCore, kNuma };
enum class RankBy { kSlot, kNode };
enum class WhenDone { kExit, kWait };

using base::PortRange;

struct Options {
  std::vector<Group> groups = std::vector<Group>(1);  // One or more.
  std::optional<std::size_t> rank_count;  // Of all groups; empty: as many as there are slots.
  std::optional<BindTo> bind_to;          // Empty: as map_by implies.
  MapBy map_by = MapBy::kSlot;
  std::size_t ranks_per_node = 0;  // For kFixedPerNode.
  RankBy rank_by = RankBy::kSlot;
  std::optional<std::size_t> cpus_per_rank;  // Empty: a slot has one CPU.
  bool oversubscribe = false;
  bool share_devices = false;
  bool report_bindings = false;
  PortRange ports;
  bool tag_output = false;
  bool timestamp_output = false;
  bool gather_output = false;
  std::string output_directory;  // Empty: no files.
  std::optional<base::Duration> timeout;
  base::Duration deadline = std::chrono::seconds(60);
  std::optional<base::Duration> grace;  // Empty: as in exit_policy.h.
  std::optional<int> stop_signal;       // SIGUSR1 or SIGUSR2: a request to end, as SIGTERM is.
  // The requested transport; null: the places of the ranks decide.
  const base::TransportRow* transport = nullptr;
  std::string tuned_file;                      // The file that chooses the plans; empty: no file.
  std::optional<std::string> host_list;        // "a:2,b:2"
  std::optional<std::string> hostfile;         // The path of the host file.
  std::string key_file;                        // Empty: in one of the usual places.
  std::optional<int> key_fd;                   // Descriptor of the key; empty: a file has the key.
  bool encrypt = false;                        // Encrypt all TCP traffic.
  bool insecure = false;                       // No key is needed; on loopback only.
  std::optional<base::Duration> join_timeout;  // Time for hosts to find each other.
  std::string agent;    // The command to start rotarun on other hosts; empty: ssh, or srun.
  std::string prefix;   // Where rotarun is on other hosts; empty: as on this one.
  std::string address;  // This host's address for the hosts it starts; empty: rotarun finds it.
  bool follow = false;
  bool this_host = false;
  bool show_ranks = false;
  bool preflight = false;
  bool json = false;  // show_ranks and preflight print JSON.
  WhenDone when_done = WhenDone::kExit;
  std::optional<std::string> status_address;  // "127.0.0.1:8080": numeric.
  bool explain = false;
  bool verbose = false;
  bool version = false;
  bool help = false;
};

// Returns whether the ranks' messages go over an MPI.
bool goes_over_mpi(const Options& options) noexcept;

// Thrown if the command line makes no sense. The text says what to write instead.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses `arguments`, which must not have argv[0]. Options end at the first argument that is not an
// option, or at "--". A program ends at ":"; then the options and the program of another group
// follow. ROTA_PORTS, ROTA_ENCRYPT and ROTA_TUNED in `environment` are used if their flags are not
// given. Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment = {});

// Returns the text that --help prints.
std::string help_text();

}  // namespace rota::launcher
