// Reads the hosts that PBS, LSF or SGE has reserved for the job. A variable of the batch system
// names a file with these hosts, and the file is only on the host where the system starts the job.
#include <algorithm>

#include "cluster/sources.h"
#include "cluster/sources/host_list.h"

namespace rota::cluster {
namespace {

using ParseFile = std::vector<Host> (*)(const std::string& path, std::string_view text);

// Returns the hosts of the file that the variable names, as room. Returns nothing for a list of
// this host alone: it declares no other host, and the number of ranks follows from the CPUs, as
// without a batch system.
std::optional<Specification> read_room(const Given& given, std::string_view variable,
                                       const std::string& source, ParseFile parse) {
  const auto file = std::ranges::find(given.node_files, variable, &HostFile::given_by);
  if (file == given.node_files.end() || !file->is_readable) return std::nullopt;
  Specification room =
      specification_of_hosts(source, parse(file->given_by + " " + file->path, file->text), given);
  if (room.hosts.size() == 1 && room.own_host) return std::nullopt;
  room.is_room = true;
  return room;
}

}  // namespace

std::optional<Specification> from_pbs(const Given& given) {
  return read_room(given, "PBS_NODEFILE", "PBS allocation", parse_node_file);
}

std::optional<Specification> from_lsf(const Given& given) {
  return read_room(given, "LSB_DJOB_HOSTFILE", "LSF allocation", parse_node_file);
}

std::optional<Specification> from_sge(const Given& given) {
  return read_room(given, "PE_HOSTFILE", "SGE allocation", parse_queue_file);
}

}  // namespace rota::cluster
