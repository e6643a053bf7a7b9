// rota-checkpoint: lets people look at checkpoints without a training program.
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <rota/error.h>
#include <rota/nearest_name.h>

#include "launcher/checkpoint/commands.h"
#include "os/output.h"

namespace rota::launcher {
namespace {

using Words = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view arguments;
  std::string_view help;
  std::size_t count;  // The number of its arguments.
  Answer (*run)(const Words&);
};

constexpr Command kCommands[] = {
    {"list", "DIR", "List the checkpoints in a folder, newest first", 1,
     [](const Words& words) { return list_checkpoints(words[0]); }},
    {"show", "CHECKPOINT", "Print what a checkpoint has", 1,
     [](const Words& words) { return show_checkpoint(words[0]); }},
    {"verify", "CHECKPOINT|DIR", "Check every byte of a checkpoint, or of all in a folder", 1,
     [](const Words& words) { return verify_checkpoints(words[0]); }},
    {"diff", "CHECKPOINT CHECKPOINT", "Print what differs between two checkpoints", 2,
     [](const Words& words) { return compare_checkpoints(words[0], words[1]); }},
    {"export", "CHECKPOINT FILE", "Write the parameters of the model to a safetensors file", 2,
     [](const Words& words) { return export_parameters(words[0], words[1]); }},
};

std::string help() {
  std::string text = "Looks at the checkpoints of a training run.\nUsage:\n";
  for (const Command& command : kCommands) {
    std::string line =
        "  rota-checkpoint " + std::string(command.name) + " " + std::string(command.arguments);
    line.resize(std::max<std::size_t>(line.size() + 2, 47), ' ');
    text += line + std::string(command.help) + "\n";
  }
  return text +
         "  rota-checkpoint --help | --version\n\nExit codes: 0; 1 if checkpoints differ; 2 for a "
         "wrong command line;\n65 for a damaged checkpoint; 66 if there is none, or it cannot be "
         "read;\n73 if a file cannot be written.\n";
}

int complain(int code, const std::string& text) {
  os::print(os::kStderr, "rota-checkpoint: " + text + "\n");
  return code;
}

int refuse_line(const std::string& why) {
  return complain(kExitWrongLine, why + "\nrota-checkpoint: try rota-checkpoint --help");
}

int print(const Answer& answer) {
  const bool is_out = os::print(os::kStdout, answer.text);
  return is_out ? answer.code : complain(kExitCannotWrite, "standard output cannot be written");
}

int code_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kBadData:
      return kExitDamaged;
    case ErrorCode::kCannotWrite:
    case ErrorCode::kInvalidArgument:
      return kExitCannotWrite;
    default:
      return kExitUnreadable;
  }
}

int run(const Words& words) {
  if (words.empty()) return refuse_line("a command is needed");
  if (words[0] == "--help" || words[0] == "-h") return print({help()});
  if (words[0] == "--version") return print({"rota-checkpoint (rota) " ROTA_VERSION "\n"});
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    if (words[0] != command.name) continue;
    if (words.size() != command.count + 1) {
      return refuse_line(words[0] + " needs " + std::string(command.arguments));
    }
    return print(command.run({words.begin() + 1, words.end()}));
  }
  const std::string_view nearest = nearest_name(words[0], names);
  return refuse_line("there is no command " + words[0] +
                     (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?"));
}

}  // namespace
}  // namespace rota::launcher

int main(int argc, char** argv) {
  using namespace rota;
  try {
    return launcher::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const Error& error) {
    return launcher::complain(launcher::code_of(error), error.what());
  } catch (const std::exception& error) {
    return launcher::complain(launcher::kExitUnreadable, error.what());
  }
}
