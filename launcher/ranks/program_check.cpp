// What can be found wrong before anything starts.
#include "launcher/ranks/program_check.h"

#include <filesystem>

#include "cluster/environment.h"
#include "launcher/command/exit_codes.h"
#include "launcher/ranks/mpi_program.h"
#include "launcher/ranks/rank_environment.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

constexpr const char* kUsualPath = "/usr/local/bin:/usr/bin:/bin";

// Empty when a rank can run there.
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
    check.warnings.push_back("-x " + name + ": it is not set here, so the ranks do not get it");
  }
  const auto of_ranks = make_environment(environment, group.variables, {});
  std::string search_path = cluster::find_variable(of_ranks, "PATH");
  if (search_path.empty()) search_path = kUsualPath;
  const std::string& name = group.program.front();
  os::StartFailure failure;
  check.program_paths.push_back(
      os::find_program(name, search_path, group.working_directory, failure));
  if (!check.program_paths.back().empty()) return;
  refuse(failure.is_missing ? kExitNotFound : kExitCannotRun,
         "cannot run " + name + ": " + failure.text +
             (name.find('/') == std::string::npos ? " in PATH" : ""),
         check);
}

void check_for_mpi(const Group& group, const std::vector<std::string>& environment,
                   ProgramCheck& check) {
  const auto of_ranks = make_environment(environment, group.variables, {});
  const std::filesystem::path directory = group.working_directory;
  const std::string library = mpi_library_of((directory / check.program_paths.back()).string(),
                                             cluster::find_variable(of_ranks, "LD_LIBRARY_PATH"));
  if (library.empty()) return;
  check.is_of_mpi = true;
  refuse(kExitCannotRun, mpi_complaint(group.program.front(), library), check);
}

}  // namespace

ProgramCheck check_program(const Options& options, const std::vector<std::string>& environment,
                           bool hides_ranks) {
  ProgramCheck check;
  for (const Group& group : options.groups) {
    if (check.exit_code == 0) check_group(group, environment, check);
    const bool is_mpi_wrong = hides_ranks && !options.allow_mpi && !group.is_evaluator;
    if (check.exit_code == 0 && is_mpi_wrong) check_for_mpi(group, environment, check);
  }
  return check;
}

}  // namespace rota::launcher
