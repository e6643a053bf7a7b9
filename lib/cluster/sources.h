// Lists the sources that may describe the cluster. Each source is a file in sources/. All sources
// are pure: they use only what `Given` has.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cluster/environment.h"
#include "cluster/specification.h"

namespace rota::cluster {

// The program that reads the sources. A program without a launcher is one rank; rotarun can be a
// host with several ranks.
enum class Asker { kLauncher, kProgram };

struct HostFile {
  std::string path;
  std::string text;
  std::string given_by = "--hostfile";  // Or the variable that names the file.
  bool is_readable = true;
};

// These variables name a host file to an MPI launcher, for everything that the launcher starts: for
// example in the launcher pod of an MPIJob.
inline constexpr std::string_view kHostFileVariables[] = {
    "OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"};

// These variables name the file in which a batch system lists the hosts that it has reserved for
// the job: PBS, LSF, SGE.
inline constexpr std::string_view kNodeFileVariables[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE",
                                                          "PE_HOSTFILE"};

// All input of the sources.
struct Given {
  Environment environment{};
  std::string host_name{};
  std::vector<std::string> host_addresses{};  // Numeric: "10.0.0.1", "fd00::1".
  Asker asker = Asker::kLauncher;
  std::vector<std::string> arguments{};    // Arguments of the program.
  std::optional<std::string> host_list{};  // Value of --host.
  std::optional<HostFile> hostfile{};
  std::vector<HostFile> node_files{};         // Those of kNodeFileVariables.
  std::optional<std::size_t> device_count{};  // CUDA devices of this host; empty: not counted.
};

// What ROTA_* variables declare in addition to a source. Every source is compared with these
// values. ROTA_SERVICE_HOST and ROTA_*_PORT=tcp://… are not among them: Kubernetes sets these
// variables for a service named "rota".
struct Declared {
  std::optional<std::size_t> host_count{};  // ROTA_HOSTS, if it is a number.
  std::optional<std::size_t> world_size{};  // ROTA_WORLD, in ranks.
  std::optional<std::size_t> slots{};       // ROTA_SLOTS, of this host.
  std::string service{};                    // ROTA_SERVICE; follows a pod's name.
  std::size_t ordinal_start = 0;            // ROTA_ORDINAL_START, of a StatefulSet.
};
Declared read_declared(const Environment& environment);

// Each source returns nothing if its variables are not set. It throws Error kInvalidArgument, with
// variable and value, if the variables make no sense.

// Process level: this process is a rank.
std::optional<Specification> from_torchrun(const Given& given);
std::optional<Specification> from_open_mpi(const Given& given);
std::optional<Specification> from_pmix(const Given& given);  // Has no world size.
std::optional<Specification> from_pmi(const Given& given);

// In a step with one task on each node, rotarun is a host. A program is a rank, unless another
// launcher has made it one: then the step has only the hosts of that launcher.
std::optional<Specification> from_slurm_step(const Given& given);

// Host level: this host is a place for ranks.
std::optional<Specification> from_host_list(const Given& given);   // --host a:2,b:2
std::optional<Specification> from_hostfile(const Given& given);    // --hostfile, or a variable
std::optional<Specification> from_task_flags(const Given& given);  // --worker_hosts=…
std::optional<Specification> from_rota_hosts(const Given& given);  // ROTA_HOSTS=a:2,b:2
std::optional<Specification> from_tf_config(const Given& given);
std::optional<Specification> from_trainer(const Given& given);      // PET_*
std::optional<Specification> from_pytorch_job(const Given& given);  // RANK, of the pod
std::optional<Specification> from_job_set(const Given& given);
std::optional<Specification> from_indexed_job(const Given& given);
std::optional<Specification> from_stateful_set(const Given& given);  // Only the pod's name.

// Host level, and room: these hosts are reserved, and rotarun may start itself on them.
std::optional<Specification> from_slurm_allocation(const Given& given);
std::optional<Specification> from_pbs(const Given& given);
std::optional<Specification> from_lsf(const Given& given);
std::optional<Specification> from_sge(const Given& given);

}  // namespace rota::cluster
