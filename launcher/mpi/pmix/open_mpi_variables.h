// The Open MPI variables are the settings with which Open MPI starts under rotarun: without them,
// some versions do not look for a PMIx server, and most start slowly or wait in tight loops.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rota::launcher {

struct OpenMpiFacts {
  bool is_crowded = false;  // This host has more ranks than usable CPUs.
  bool has_fabric = false;  // This host has a network that Open MPI reaches by other components.
  std::string memory_folder{};  // For memory that ranks share; empty: as Open MPI chooses.
  std::string address{};  // Reaches the other hosts; set only if this host has several addresses.
};

// Returns the variables, each as "NAME=VALUE". A setting that `environment` has already is left
// out, and so are the transports if it has a setting of any of them. `environment`: that of a rank,
// and the settings of files.
std::vector<std::string> open_mpi_variables(const OpenMpiFacts& facts,
                                            const std::vector<std::string>& environment);

// Returns the settings of one of Open MPI's parameter files, as variables. Lists of transports that
// only exclude some which rotarun does not choose are left out.
std::vector<std::string> settings_of(std::string_view text);

// Returns the settings of the parameter files that Open MPI reads where `environment` is set: a
// variable has precedence over them in Open MPI, and rotarun must not choose otherwise. The file of
// an Open MPI outside of the usual folders is found by OPAL_PREFIX only.
std::vector<std::string> settings_in_files(const std::vector<std::string>& environment);

// Returns whether this host has a network such as InfiniBand, by the devices that the kernel knows.
bool has_fabric();

}  // namespace rota::launcher
