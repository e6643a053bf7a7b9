// Finds MPI libraries in programs and in processes, so that rotarun does not run an MPI program as
// many MPI worlds of one rank each.
#include "launcher/ranks/mpi_program.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "cluster/host_names.h"
#include "launcher/ranks/elf_needs.h"

namespace rota::launcher {
namespace {

constexpr auto kStems =
    std::to_array<std::string_view>({"libmpi.so", "libmpi_", "libmpich", "libmpicxx"});

// Times after the start: while a program loads, once it has loaded, and if it loads slowly.
constexpr auto kLooks = std::to_array<std::chrono::milliseconds>(
    {std::chrono::milliseconds(500), std::chrono::seconds(3), std::chrono::seconds(15),
     std::chrono::seconds(60)});

// The largest number of processes read in one iteration: the loop has other work, and must send its
// heartbeat.
constexpr std::size_t kMostAtOnce = 8;

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string first_of_mpi(const std::vector<std::string>& libraries) {
  const auto found = std::ranges::find_if(
      libraries, [](const std::string& library) { return is_mpi_library(file_name_of(library)); });
  return found == libraries.end() ? std::string() : std::string(file_name_of(*found));
}

// Returns the path of a library that is named by its path or is in one of `folders`. Returns
// nothing for other libraries, such as those of the system.
std::string own_library_of(const std::string& library, const std::vector<std::string>& folders) {
  if (library.find('/') != std::string::npos) return library;
  for (const std::string& folder : folders) {
    std::error_code ignored;
    const auto path = std::filesystem::path(folder) / library;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return {};
}

// Returns the MPI library that a process has mapped; empty if none.
std::string mapped_by(int pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::string_view name = file_name_of(line);
    if (line.find('/') != std::string::npos && is_mpi_library(name)) return std::string(name);
  }
  return {};
}

// Returns which options a person can give for a library with its whole version,
// "libmpi.so.40.30.4".
std::string options_for(const std::string& library) {
  const std::size_t version = library.find(".so.");
  const std::size_t end = version == std::string::npos ? version : library.find('.', version + 4);
  const auto kind = kind_of_library(std::string_view(library).substr(0, end));
  const std::string none = "--mpi none leaves out this warning";
  if (!kind) return "--mpi pmi serves MPICH, --mpi pmix serves Open MPI, and " + none;
  return (*kind == MpiKind::kPmi ? "--mpi pmi" : "--mpi pmix") + (" serves it, and " + none);
}

std::string name_of_process(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' '; }, '?');
  return name;
}

}  // namespace

bool is_mpi_library(std::string_view name) {
  return std::ranges::any_of(kStems, [&](auto stem) { return name.starts_with(stem); });
}

std::optional<MpiKind> kind_of_library(std::string_view name) {
  if (is_of_standard_abi(name)) return std::nullopt;
  if (name.ends_with(".so.40")) return MpiKind::kPmix;
  if (name.ends_with(".so.12")) return MpiKind::kPmi;
  return std::nullopt;
}

bool is_of_standard_abi(std::string_view name) { return name.starts_with("libmpi_abi.so"); }

std::string mpi_library_of(const std::string& program_path, const std::string& library_path) {
  const auto needs = read_elf_needs(program_path);
  if (!needs) return {};
  std::string found = first_of_mpi(needs->libraries);
  if (!found.empty()) return found;
  std::vector<std::string> folders = needs->folders;
  for (const std::string_view folder : cluster::split(library_path, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  for (const std::string& library : needs->libraries) {
    const std::string path = own_library_of(library, folders);
    const auto further = path.empty() ? std::nullopt : read_elf_needs(path);
    if (further) found = first_of_mpi(further->libraries);
    if (!found.empty()) return found;
  }
  return {};
}

std::string mpi_complaint(const std::string& program, const std::string& library) {
  return program + " needs " + library +
         ", but rotarun does not tell this MPI about the other ranks: each rank would be an MPI "
         "world of one. Start the program with mpirun, or with mpirun -np N rotarun " +
         program + "; if the ranks do not call MPI_Init, use --mpi none";
}

std::optional<base::TimePoint> MpiWatch::next_look() const {
  if (!unseen_.empty()) return base::TimePoint();
  if (look_count_ == kLooks.size()) return std::nullopt;
  return start_ + kLooks[look_count_];
}

std::string MpiWatch::look(base::TimePoint now, const std::function<std::vector<int>()>& list) {
  if (next_look().value_or(base::TimePoint::max()) > now) return {};
  if (unseen_.empty()) {
    while (next_look().value_or(base::TimePoint::max()) <= now) ++look_count_;
    unseen_ = list();
  }
  for (std::size_t count = 0; count < kMostAtOnce && !unseen_.empty(); ++count) {
    const int pid = unseen_.back();
    unseen_.pop_back();
    const std::string library = mapped_by(pid);
    if (library.empty()) continue;
    look_count_ = kLooks.size();
    unseen_.clear();
    return "process " + std::to_string(pid) + " (" + name_of_process(pid) + ") has loaded " +
           library +
           ": rotarun does not tell MPI about the other ranks, so a rank that calls MPI_Init is an "
           "MPI world of one; " +
           options_for(library);
  }
  return {};
}

}  // namespace rota::launcher
