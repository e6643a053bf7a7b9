// What can be found wrong before anything starts.
#include "launcher/program_check.h"

#include <filesystem>

#include "launcher/exit_policy.h"
#include "launcher/rank_environment.h"
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

ProgramCheck refuse(int exit_code, const std::string& complaint) {
  ProgramCheck check;
  check.exit_code = exit_code;
  check.complaint = complaint;
  return check;
}

}  // namespace

ProgramCheck check_program(const Options& options, const std::vector<std::string>& environment) {
  if (!options.working_directory.empty()) {
    const std::string problem = problem_with_directory(options.working_directory);
    if (!problem.empty()) {
      return refuse(kExitUsage, "--wdir " + options.working_directory + ": " + problem);
    }
  }
  ProgramCheck check;
  for (const std::string& name : unset_variables(environment, options.variables)) {
    check.warnings.push_back("-x " + name + ": it is not set here, so the ranks do not get it");
  }
  const auto of_ranks = make_environment(environment, options.variables, {});
  std::string search_path = find_variable(of_ranks, "PATH");
  if (search_path.empty()) search_path = kUsualPath;
  const std::string& name = options.program.front();
  os::StartFailure failure;
  check.program_path = os::find_program(name, search_path, options.working_directory, failure);
  if (!check.program_path.empty()) return check;
  check.exit_code = failure.is_missing ? kExitNotFound : kExitCannotRun;
  check.complaint = "cannot run " + name + ": " + failure.text;
  if (name.find('/') == std::string::npos) check.complaint += " in PATH";
  return check;
}

}  // namespace rota::launcher
