// The sources that may say something about the cluster. Each is a file of sources/. All are pure:
// they look at what is given, and nothing else.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cluster/environment.h"
#include "cluster/specification.h"

namespace rota::cluster {

// Who wants to know. A program without a launcher is one rank; rotarun may be a host of several.
enum class Asker { kLauncher, kProgram };

struct HostFile {
  std::string path;
  std::string text;
  std::string given_by = "--hostfile";  // Or the variable that names it.
};

// The variables by which launchers of MPI are told a file of hosts for all that they start, such as
// in the launcher's pod of an MPIJob.
inline constexpr std::string_view kHostFileVariables[] = {
    "OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"};

// All that there is to go by.
struct Given {
  Environment environment{};
  std::string host_name{};
  std::vector<std::string> host_addresses{};  // Its numbers: "10.0.0.1", "fd00::1".
  Asker asker = Asker::kLauncher;
  std::vector<std::string> arguments{};    // Of the program.
  std::optional<std::string> host_list{};  // Of --host.
  std::optional<HostFile> hostfile{};
  std::optional<std::size_t> device_count{};  // CUDA devices of this host; empty: not looked for.
};

// What ROTA_* variables declare beside a source: they are held against each of them.
// ROTA_SERVICE_HOST and ROTA_*_PORT=tcp://… are a cluster's links to a service, and not ours.
struct Declared {
  std::optional<std::size_t> host_count{};  // ROTA_HOSTS, where it is a number.
  std::optional<std::size_t> world_size{};  // ROTA_WORLD, in ranks.
  std::optional<std::size_t> slots{};       // ROTA_SLOTS, of this host.
  std::string service{};                    // ROTA_SERVICE, which follows a pod's name.
  std::size_t ordinal_start = 0;            // ROTA_ORDINAL_START, of a StatefulSet.
};
Declared read_declared(const Environment& environment);

// Each says nothing where its variables are not there, and throws Error kInvalidArgument, with
// variable and value, where they make no sense.

// Process level: this process is a rank.
std::optional<Specification> from_torchrun(const Given& given);
std::optional<Specification> from_open_mpi(const Given& given);
std::optional<Specification> from_pmix(const Given& given);  // Does not tell the world's size.
std::optional<Specification> from_pmi(const Given& given);

// A step with one task on each node makes rotarun the host, and a program the rank.
std::optional<Specification> from_slurm_step(const Given& given);

// Host level: this host is a place for ranks.
std::optional<Specification> from_host_list(const Given& given);   // --host a:2,b:2
std::optional<Specification> from_hostfile(const Given& given);    // --hostfile, or the like
std::optional<Specification> from_task_flags(const Given& given);  // --worker_hosts=…
std::optional<Specification> from_rota_hosts(const Given& given);  // ROTA_HOSTS=a:2,b:2
std::optional<Specification> from_tf_config(const Given& given);
std::optional<Specification> from_trainer(const Given& given);      // PET_*
std::optional<Specification> from_pytorch_job(const Given& given);  // RANK, which is the pod's
std::optional<Specification> from_job_set(const Given& given);
std::optional<Specification> from_indexed_job(const Given& given);
std::optional<Specification> from_stateful_set(const Given& given);  // The pod's name alone.
std::optional<Specification> from_slurm_allocation(const Given& given);

}  // namespace rota::cluster
