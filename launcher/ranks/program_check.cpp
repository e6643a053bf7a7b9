// Finds mistakes in programs and folders before anything starts.
#include "launcher/ranks/program_check.h"

#include <algorithm>
#include <filesystem>

#include "cluster/environment.h"
#include "launcher/command/exit_codes.h"
#include "launcher/ranks/mpi_program.h"
#include "launcher/ranks/mpi_service.h"
#include "launcher/ranks/mpi_transport.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

// Returns what is wrong with a directory; empty if a rank can run in it.
std::string problem_with_directory(const std::string& directory) {
  std::error_code error;
  const auto status = std::filesystem::status(directory, error);
  if (!std::filesystem::exists(status)) return "No such file or directory";
  return std::filesystem::is_directory(status) ? "" : "Not a directory";
}

void refuse(int exit_code, const std::string& complaint, ProgramCheck& check) {
  check.exit_code = exit_code;
  check.complaint = complaint;
}

void check_group(const Group& group, const std::vector<std::string>& environment,
                 ProgramCheck& check) {
  if (!group.working_directory.empty()) {
    const std::string problem = problem_with_directory(group.working_directory);
    if (!problem.empty()) {
      return refuse(kExitUsage, "--wdir " + group.working_directory + ": " + problem, check);
    }
  }
  for (const std::string& name : unset_variables(environment, group.variables)) {
    check.warnings.push_back("-x " + name +
                             ": the variable is not set here, so the ranks do not get it");
  }
  const auto of_ranks = make_environment(environment, group.variables, {});
  const std::string& name = group.program.front();
  os::StartFailure failure;
  check.program_paths.push_back(os::find_program(name, cluster::find_variable(of_ranks, "PATH"),
                                                 group.working_directory, failure));
  if (!check.program_paths.back().empty()) return;
  refuse(failure.is_missing ? kExitNotFound : kExitCannotRun,
         "cannot run " + name + ": " + failure.text +
             (name.find('/') == std::string::npos ? " in PATH" : ""),
         check);
}

// Returns the MPI library that the program of a group names in its file; empty if there is none.
std::string library_of(const Group& group, const std::vector<std::string>& environment,
                       const std::string& path) {
  const auto of_ranks = make_environment(environment, group.variables, {});
  const std::filesystem::path directory = group.working_directory;
  return mpi_library_of((directory / path).string(),
                        cluster::find_variable(of_ranks, "LD_LIBRARY_PATH"));
}

MpiKind asked_for(MpiChoice choice) {
  if (choice == MpiChoice::kPmix) return MpiKind::kPmix;
  return choice == MpiChoice::kPmi ? MpiKind::kPmi : MpiKind::kNone;
}

void refuse_mpi(const std::string& complaint, ProgramCheck& check) {
  check.is_of_mpi = true;
  refuse(kExitCannotRun, complaint, check);
}

// Decides which MPI the ranks of a group have. Refuses a program whose MPI is another one than
// --mpi says, and a program that would be many worlds of one.
MpiKind choose_mpi(const Group& group, const std::string& library, MpiView view,
                   ProgramCheck& check) {
  const std::string& name = group.program.front();
  if (group.is_evaluator || group.mpi == MpiChoice::kNone) return MpiKind::kNone;
  const auto found = kind_of_library(library);
  const bool is_asked = group.mpi != MpiChoice::kAuto;
  const MpiKind kind = is_asked ? asked_for(group.mpi) : found.value_or(MpiKind::kNone);
  if (is_asked && found && *found != kind) {
    refuse_mpi(name + " needs " + library + ", which uses " + std::string(name_of(*found)) +
                   ", but --mpi asks for " + std::string(name_of(kind)) + ": leave out --mpi",
               check);
    return MpiKind::kNone;
  }
  if (view == MpiView::kWorld) return MpiKind::kNone;  // Another launcher serves it.
  if (has_mpi_server(kind)) return kind;
  const bool may_be_any = library.empty() || is_of_standard_abi(library);
  if (view == MpiView::kNothing && !is_asked && is_of_standard_abi(library)) {
    check.warnings.push_back(
        name + " needs " + library +
        ", which any MPI may be, so rotarun serves none: each rank is an MPI world of one; --mpi "
        "pmi serves MPICH, --mpi pmix serves Open MPI, and --mpi none leaves out this warning");
  }
  if (view == MpiView::kNothing && kind != MpiKind::kNone && library.empty()) {
    refuse_mpi("--mpi asks for " + std::string(name_of(kind)) +
                   ", but this rotarun has no server for it: start " + name +
                   " with mpirun, or with mpirun -np N rotarun " + name + why_no_mpi_server(kind),
               check);
  } else if (view == MpiView::kNothing && !may_be_any) {
    refuse_mpi(mpi_complaint(name, library) + why_no_mpi_server(kind), check);
  }
  return MpiKind::kNone;
}

// Returns the MPI over which the messages of a group go that has none itself; empty if there is
// none.
std::optional<MpiKind> mpi_of_messages(const std::vector<std::string>& environment, MpiView view,
                                       const std::vector<std::string>& of_ranks,
                                       const ProgramCheck& check) {
  if (view == MpiView::kWorld) return mpi_of_launcher(environment);
  const auto of_others =
      std::ranges::find_if(check.mpi, [](MpiKind kind) { return kind != MpiKind::kNone; });
  return of_others == check.mpi.end() ? usual_mpi(of_ranks) : *of_others;
}

// With --transport mpi, gives an MPI to the groups that have none, and finds the library for it. A
// rank that is alone sends no messages.
void send_over_mpi(const Options& options, const std::vector<std::string>& environment,
                   MpiView view, const std::vector<std::string>& libraries, ProgramCheck& check) {
  if (!goes_over_mpi(options) || view == MpiView::kAlone) return;
  for (std::size_t index = 0; index < options.groups.size(); ++index) {
    const Group& group = options.groups[index];
    if (group.is_evaluator || check.exit_code != 0) continue;
    if (is_of_standard_abi(libraries[index]) && group.mpi == MpiChoice::kAuto) {
      return refuse_mpi(group.program.front() + " needs " + libraries[index] +
                            ", behind which there may be any MPI: with --transport mpi, say which "
                            "one, with --mpi pmix for Open MPI or --mpi pmi for MPICH",
                        check);
    }
    const auto of_ranks = make_environment(environment, group.variables, {});
    std::optional<MpiKind> kind = check.mpi[index];
    if (*kind == MpiKind::kNone) kind = mpi_of_messages(environment, view, of_ranks, check);
    if (kind) check.mpi_libraries[index] = find_mpi_library(*kind, of_ranks);
    if (check.mpi_libraries[index].empty()) return refuse_mpi(why_no_mpi_library(kind), check);
    if (view == MpiView::kNothing) check.mpi[index] = *kind;
  }
}

std::string why_mpi(const Group& group, const std::string& library, MpiKind kind, MpiView view) {
  const std::string& name = group.program.front();
  const std::string needs = library.empty() ? " names no MPI library" : " needs " + library;
  if (group.is_evaluator) return name + " is an evaluator, so it has no MPI of the job";
  if (kind != MpiKind::kNone)
    return name + needs + (library.empty() ? ", and rotarun serves " : ", so rotarun serves ") +
           std::string(name_of(kind)) + " to its ranks";
  if (view == MpiView::kWorld)
    return name + needs + ", and has what the launcher that started rotarun gave it";
  return name + needs + ", and rotarun serves no MPI to its ranks" +
         (group.mpi == MpiChoice::kNone ? " (--mpi none)" : "");
}

void require_one_mpi(const Options& options, ProgramCheck& check) {
  std::optional<std::size_t> first;
  for (std::size_t index = 0; index < check.mpi.size(); ++index) {
    if (check.mpi[index] == MpiKind::kNone) continue;
    if (!first) first = index;
    if (check.mpi[index] == check.mpi[*first]) continue;
    return refuse_mpi(
        options.groups[*first].program.front() + " uses " +
            std::string(name_of(check.mpi[*first])) + ", but " +
            options.groups[index].program.front() + " uses " +
            std::string(name_of(check.mpi[index])) +
            ": the programs of a job are one MPI world, so they need the same MPI; give --mpi none "
            "to a program that does not call MPI_Init",
        check);
  }
}

}  // namespace

ProgramCheck check_program(const Options& options, const std::vector<std::string>& environment,
                           MpiView view) {
  ProgramCheck check;
  std::vector<std::string> libraries;  // By group: the MPI library in the program's file.
  for (const Group& group : options.groups) {
    if (check.exit_code == 0) check_group(group, environment, check);
    const bool is_found = check.exit_code == 0;
    libraries.push_back(is_found ? library_of(group, environment, check.program_paths.back()) : "");
    check.mpi.push_back(is_found ? choose_mpi(group, libraries.back(), view, check)
                                 : MpiKind::kNone);
  }
  check.mpi_libraries.resize(options.groups.size());
  if (check.exit_code == 0) require_one_mpi(options, check);
  if (check.exit_code == 0) send_over_mpi(options, environment, view, libraries, check);
  for (std::size_t index = 0; index < libraries.size(); ++index) {
    if (check.exit_code != 0 && check.mpi[index] == MpiKind::kNone) continue;
    const std::string& over = check.mpi_libraries[index];
    check.why_mpi.push_back(
        why_mpi(options.groups[index], libraries[index], check.mpi[index], view) +
        (over.empty() ? "" : "; messages go over " + over));
  }
  return check;
}

}  // namespace rota::launcher
