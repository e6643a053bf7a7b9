// rota-manifest is the program that rotarun becomes for "rotarun render". It prints the objects of
// a job, or reports what is wrong in a file. It is separate so that no other start loads YAML code.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <rota/error.h>

#include "auth/key.h"
#include "launcher/command/exit_codes.h"
#include "launcher/command/options.h"
#include "launcher/manifest/objects.h"
#include "launcher/manifest/parameters.h"
#include "launcher/manifest/rules.h"
#include "launcher/manifest/yaml.h"
#include "os/output.h"

namespace rota::manifest {
namespace {

int print(const std::string& text) {
  return os::print(os::kStdout, text) ? 0 : launcher::kExitFailed;
}

void complain(const std::string& text) { os::print(os::kStderr, "rotarun render: " + text + "\n"); }

std::string fresh_key() {
  const auth::Key key = auth::random_key();
  return {reinterpret_cast<const char*>(key.bytes().data()), key.bytes().size()};
}

struct FieldsFlag {
  std::string_view field;
  std::string_view flag;
};

constexpr std::array kFlags = {FieldsFlag{"resources.limits.memory is", "--memory"},
                               FieldsFlag{"resources.requests.cpu is", "--cpu-request"}};

// Throws UsageError if check() refuses the manifest; the manifest is not printed in this case. The
// message names the flag if the wrong field comes from a flag.
void require_sound(const Manifest& manifest) {
  for (const Finding& finding : check(manifest)) {
    if (!finding.is_error) continue;
    std::string cause = "this would make a manifest that --check refuses";
    for (const auto& [field, flag] : kFlags) {
      if (finding.text.find(field) != std::string::npos) cause = flag;
    }
    throw launcher::UsageError(cause + ": " + finding.text);
  }
}

int render(const Parameters& parameters) {
  const bool has_key = !parameters.key_secret.empty();
  const Manifest manifest(objects_of(parameters, has_key ? "" : fresh_key()));
  require_sound(manifest);
  return print(to_yaml(manifest.objects));
}

// Reads the stream, and stops soon after kMostYamlBytes; the YAML reader then refuses the text as
// too large.
std::string read_all(std::istream& stream) {
  std::string text;
  std::array<char, 1 << 16> part{};
  while (stream && text.size() <= kMostYamlBytes) {
    stream.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  return text;
}

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw launcher::UsageError("--check " + path + ": " + why);
}

std::string read_file(const std::string& path) {
  if (path == "-") {
    std::string text = read_all(std::cin);
    if (std::cin.bad() || std::ferror(stdin) != 0) refuse_file(path, "the file cannot be read");
    return text;
  }
  std::error_code ignored;  // Opening the file reports the same error.
  if (std::filesystem::is_directory(path, ignored)) {
    refuse_file(path, "this is a folder: name its files, or run kubectl kustomize " + path +
                          " | rotarun render --check -");
  }
  std::ifstream file(path);
  std::string text = read_all(file);
  if (!file.is_open() || file.bad()) refuse_file(path, "the file cannot be read");
  return text;
}

// Reads all files together: an object may name an object in another file.
std::vector<Tree> read_files(const std::vector<std::string>& paths) {
  YamlReader reader;
  for (const std::string& path : paths) {
    try {
      reader.read(read_file(path));
    } catch (const YamlError& error) {
      throw YamlError((path == "-" ? "standard input" : path) + ": " + error.what());
    }
  }
  return reader.take();
}

// Limits on the cost of untrusted files, whatever work the files cause in the parser.
// docs/manifests.md promises these limits.
constexpr rlim_t kMostSeconds = 2;
#if defined(ROTA_LIMITS_MEMORY)
// 48 MiB of data, and the pages of the program and of its libraries, are less than 64 MiB together.
constexpr rlim_t kMostDataBytes = rlim_t{48} << 20;
#endif

void lower_limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  ::setrlimit(resource, &limit);
}

extern "C" void end_late(int /*signal*/) {
  constexpr std::string_view kWhy =
      "rotarun render: the check takes more than 2 s; give the manifest of one job\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kWhy.data(), kWhy.size());
  ::_exit(launcher::kExitSpecification);
}

void limit_cost() {
#if defined(ROTA_LIMITS_MEMORY)
  lower_limit(RLIMIT_DATA, kMostDataBytes);
#endif
  std::signal(SIGXCPU, end_late);
  lower_limit(RLIMIT_CPU, kMostSeconds);
}

int check_files(const std::vector<std::string>& paths) {
  const Manifest manifest(read_files(paths));
  const Findings findings = check(manifest);
  std::string text;
  bool is_wrong = false;
  for (const Finding& finding : findings) {
    text += (finding.is_error ? "error: " : "hint: ") + finding.text + "\n";
    is_wrong = is_wrong || finding.is_error;
  }
  if (findings.empty()) {
    text = "rotarun render found nothing wrong with these " +
           std::to_string(manifest.objects.size()) + " objects\n";
  }
  const int code = print(text);
  return is_wrong ? launcher::kExitSpecification : code;
}

int run(const std::vector<std::string>& arguments) {
  try {
    const CommandLine line = parse_command_line(arguments);
    if (line.help) return print(help_text());
    if (!line.is_check) return render(line.parameters);
    limit_cost();
    return check_files(line.files);
  } catch (const launcher::UsageError& error) {
    complain(std::string(error.what()) + "\nrotarun: try rotarun render --help");
    return launcher::kExitUsage;
  } catch (const YamlError& error) {
    complain(error.what());
    return launcher::kExitSpecification;
  } catch (const std::bad_alloc&) {
    complain("the check needs more than 64 MiB; give the manifest of one job");
    return launcher::kExitSpecification;
  } catch (const std::exception& error) {
    complain(error.what());
    return launcher::kExitFailed;
  }
}

}  // namespace
}  // namespace rota::manifest

int main(int argc, char** argv) {
  return rota::manifest::run(std::vector<std::string>(argv + 1, argv + argc));
}
