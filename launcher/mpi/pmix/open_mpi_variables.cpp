// Chooses the settings with which Open MPI starts under rotarun.
#include "launcher/mpi/pmix/open_mpi_variables.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "cluster/environment.h"
#include "cluster/host_names.h"

namespace rota::launcher {
namespace {

using Variables = std::vector<std::string>;

// If one of these is set, a person has chosen how messages travel. The last one names parameter
// files.
constexpr auto kTransports =
    std::to_array<std::string_view>({"OMPI_MCA_btl", "OMPI_MCA_mtl", "OMPI_MCA_osc", "OMPI_MCA_pml",
                                     "OMPI_MCA_mca_base_param_files"});
constexpr auto kNetworks =
    std::to_array<std::string_view>({"OMPI_MCA_btl_tcp_if_exclude", "OMPI_MCA_btl_tcp_if_include"});

// The components that rotarun chooses.
constexpr auto kChosen = std::to_array<std::string_view>({"ob1", "self", "sm", "tcp", "vader"});

constexpr auto kFabricClasses =
    std::to_array<const char*>({"/sys/class/infiniband", "/sys/class/cxi", "/sys/class/hfi1"});

template <std::size_t kCount>
bool has_any(const Variables& environment, const std::array<std::string_view, kCount>& names) {
  return std::ranges::any_of(
      names, [&](std::string_view name) { return cluster::is_set(environment, name); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\"";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Returns whether a list such as "^ucx,ofi" excludes only components that rotarun does not choose.
bool only_excludes_others(std::string_view list) {
  if (!list.starts_with('^')) return false;
  return std::ranges::none_of(cluster::split(list.substr(1), ','), [](std::string_view name) {
    return std::ranges::find(kChosen, name) != kChosen.end();
  });
}

// Returns the parameter files of the usual places, and those of OPAL_PREFIX.
std::vector<std::filesystem::path> parameter_files(const Variables& environment) {
  constexpr const char* kName = "openmpi-mca-params.conf";
  std::vector<std::filesystem::path> files = {std::filesystem::path("/etc") / kName};
  const std::string home = cluster::find_variable(environment, "HOME");
  if (!home.empty()) files.emplace_back(home + "/.openmpi/mca-params.conf");
  const std::string prefix = cluster::find_variable(environment, "OPAL_PREFIX");
  if (!prefix.empty()) files.emplace_back(prefix + "/etc/" + kName);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/etc", ignored)) {
    const bool is_of_mpi = entry.path().filename().string().starts_with("openmpi");
    if (is_of_mpi) files.push_back(entry.path() / kName);
  }
  return files;
}

}  // namespace

std::vector<std::string> settings_of(std::string_view text) {
  Variables settings;
  for (std::string_view line : cluster::split(text, '\n')) {
    line = line.substr(0, line.find('#'));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name = "OMPI_MCA_" + std::string(trimmed(line.substr(0, equals)));
    const std::string_view value = trimmed(line.substr(equals + 1));
    const bool is_transport = std::ranges::find(kTransports, name) != kTransports.end();
    if (is_transport && only_excludes_others(value)) continue;
    settings.push_back(name + "=" + std::string(value));
  }
  return settings;
}

std::vector<std::string> settings_in_files(const std::vector<std::string>& environment) {
  Variables settings;
  for (const std::filesystem::path& path : parameter_files(environment)) {
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const Variables found = settings_of(text);
    settings.insert(settings.end(), found.begin(), found.end());
  }
  return settings;
}

std::vector<std::string> open_mpi_variables(const OpenMpiFacts& facts,
                                            const std::vector<std::string>& environment) {
  Variables variables;
  const auto set = [&](const std::string& name, const std::string& value) {
    if (!cluster::is_set(environment, name)) variables.push_back(name + "=" + value);
  };
  // With this variable Open MPI 4.1 takes itself for started by a launcher with a PMIx server, and
  // so looks for the server. Otherwise each rank would be a world of one.
  set("JSM_JSRUN_PORT", "0");
  // A rank writes to a pipe. Otherwise it would lose its last lines if it is killed.
  set("OMPI_MCA_ess_base_stream_buffering", "1");
  if (facts.is_crowded) set("OMPI_MCA_mpi_yield_when_idle", "1");
  if (!facts.memory_folder.empty()) {
    set("OMPI_MCA_btl_vader_backing_directory", facts.memory_folder);  // Open MPI 4
    set("OMPI_MCA_btl_sm_backing_directory", facts.memory_folder);     // Open MPI 5
  }
  if (!facts.has_fabric && !has_any(environment, kTransports)) {
    set("OMPI_MCA_pml", "ob1");
    set("OMPI_MCA_btl", "tcp,vader,self");
  }
  const bool is_ipv4 = facts.address.find('.') != std::string::npos;  // Open MPI takes no other.
  if (is_ipv4 && !has_any(environment, kNetworks)) {
    // Open MPI, 4.1 and 5, takes a prefix of 32 bits for all addresses.
    set("OMPI_MCA_btl_tcp_if_include", facts.address + "/31");
  }
  return variables;
}

bool has_fabric() {
  return std::ranges::any_of(kFabricClasses, [](const char* folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder, ignored) && !std::filesystem::is_empty(folder, ignored);
  });
}

}  // namespace rota::launcher
