// Looks for rota's libraries for MPI, without opening them: rotarun loads no MPI.
#include "launcher/ranks/mpi_transport.h"

#include <array>
#include <filesystem>

#include "cluster/environment.h"
#include "cluster/host_names.h"
#include "launcher/ranks/mpi_service.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

constexpr auto kByPreference = std::to_array<MpiKind>({MpiKind::kPmix, MpiKind::kPmi});

std::string library_name(MpiKind kind) {
  const std::string mpi = kind == MpiKind::kPmix ? "openmpi" : "mpich";
  return "librota_mpi_" + mpi + ".so." ROTA_SOVERSION;
}

// Returns the folders in which rota's libraries are installed or built. rotarun is one folder below
// the prefix, and its companions are two folders below it.
std::vector<std::filesystem::path> own_folders() {
  const auto folder = std::filesystem::path(os::own_executable()).parent_path();
  const auto above = folder.parent_path();
  return {above / ROTA_LIBDIR, above.parent_path() / ROTA_LIBDIR, above / "lib" / "mpi"};
}

}  // namespace

std::string find_mpi_library(MpiKind kind, const std::vector<std::string>& of_ranks) {
  std::string named = cluster::find_variable(of_ranks, "ROTA_MPI_LIBRARY");
  if (!named.empty()) return named;
  std::vector<std::filesystem::path> folders;
  const std::string library_path = cluster::find_variable(of_ranks, "LD_LIBRARY_PATH");
  for (const std::string_view folder : cluster::split(library_path, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  for (const auto& folder : own_folders()) folders.push_back(folder);
  for (const auto& folder : folders) {
    std::error_code ignored;
    const auto path = folder / library_name(kind);
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return {};
}

std::optional<MpiKind> usual_mpi(const std::vector<std::string>& of_ranks) {
  for (const MpiKind kind : kByPreference) {
    if (has_mpi_server(kind) && !find_mpi_library(kind, of_ranks).empty()) return kind;
  }
  return std::nullopt;
}

MpiKind mpi_of_launcher(const std::vector<std::string>& environment) {
  return cluster::is_set(environment, "PMIX_RANK") ? MpiKind::kPmix : MpiKind::kPmi;
}

std::string why_no_mpi_library(std::optional<MpiKind> kind) {
  const std::string open_mpi = library_name(MpiKind::kPmix);
  const std::string mpich = library_name(MpiKind::kPmi);
  std::string text = "--transport mpi needs rota's library for ";
  if (!kind) {
    text += "an MPI, " + open_mpi + " or " + mpich;
  } else {
    text += *kind == MpiKind::kPmix ? "Open MPI, " + open_mpi : "MPICH, " + mpich;
  }
  text += ", which is neither in " + own_folders().front().string() +
          " nor in LD_LIBRARY_PATH: install rota's component mpi, or build rota where an MPI is "
          "installed, on Debian the package ";
  if (!kind) return text + "libopenmpi-dev with libpmix-dev, or libmpich-dev";
  return text + (*kind == MpiKind::kPmix ? "libopenmpi-dev" : "libmpich-dev");
}

}  // namespace rota::launcher
