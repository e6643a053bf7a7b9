// The flags that rotarun knows, and which of them somebody may have meant.
#include "launcher/command/flags.h"

#include <rota/nearest_name.h>

#include <vector>

namespace rota::launcher {
namespace {

constexpr std::string_view kRanks = "Ranks";
constexpr std::string_view kHosts = "Several hosts";
constexpr std::string_view kPrograms = "Programs";
constexpr std::string_view kData = "Data";
constexpr std::string_view kOutput = "Output";
constexpr std::string_view kEnd = "The end";
constexpr std::string_view kAsked = "Asked";

constexpr Flag kFlags[] = {
    {kRanks, "n", "np", "N", "Ranks to start (default: one for each slot)"},
    {kHosts, "H", "host", "HOST[:SLOTS],...",
     "The hosts of the job, and how many ranks each has room for; the same on each of them"},
    {kHosts, "", "hostfile", "FILE", "The same, with a line \"HOST slots=N\" for each host"},
    {kHosts, "", "this-host", "",
     "A world of this host alone, whatever the environment says about others"},
    {kHosts, "", "agent", "COMMAND",
     "Start rotarun on the hosts of --host and --hostfile by this, where {host} is the host's name "
     "(default: \"ssh -o BatchMode=yes {host}\"; srun in an allocation of Slurm's; none: it is "
     "started there already)"},
    {kHosts, "", "prefix", "DIR",
     "Where rotarun is installed on those hosts (default: where this one is)"},
    {kHosts, "", "address", "NUMBER",
     "The address by which they reach this host (default: that of the way to each)"},
    {kInternal, "", "follow", "",
     "What --agent starts: do what the rotarun says that writes to our input"},
    {kHosts, "", "key-file", "FILE",
     "The key that the hosts share (default: ROTA_KEY_FILE, /etc/rota/key, ~/.config/rota/key)"},
    {kHosts, "", "key-fd", "N",
     "Read it from descriptor N, which is 3 or more, to its end; nobody else gets the descriptor"},
    {kHosts, "", "encrypt", "",
     "Encrypt what hosts and ranks say to each other over TCP, on all hosts or on none (default: "
     "ROTA_ENCRYPT)"},
    {kHosts, "", "insecure", "", "Do without a key, among hosts that are all on loopback"},
    {kHosts, "", "join-timeout", "SECONDS",
     "How long the hosts may take to find each other (default: 600; 30 on loopback)"},
    {kPrograms, "x", "export", "NAME[=VALUE]",
     "Set a variable for the ranks. They have rotarun's environment anyway; a NAME without VALUE "
     "warns when it is not set there"},
    {kRanks, "", "bind-to", "none|core|numa",
     "What a rank is bound to (default: what --map-by names, none otherwise)"},
    {kRanks, "", "map-by", "slot|node|ppr:N:node|core|numa",
     "How ranks are dealt: slot fills a host before the next one, and there each core's hardware "
     "threads in turn; node goes around the hosts; ppr:N:node gives N to each of them; core and "
     "numa are slot, and go around a host's cores or NUMA nodes (default: slot)"},
    {kRanks, "", "rank-by", "slot|node",
     "How ranks are numbered: slot goes from host to host, node around them (default: slot)"},
    {kRanks, "", "cpus-per-rank", "N",
     "A slot is N CPUs; so many are bound to each rank, if ranks are bound, and are its "
     "OMP_NUM_THREADS"},
    {kRanks, "", "oversubscribe", "", "There may be more ranks than slots"},
    {kPrograms, "", "allow-mpi", "",
     "Start a program also where it needs a library of MPI's, and so would be as many MPI worlds "
     "of one as there are ranks"},
    {kRanks, "", "report-bindings", "", "Say where each rank is, and which CPUs it is bound to"},
    {kHosts, "", "ports", "FIRST-LAST",
     "Where rotarun and the ranks may listen for other hosts, and programs of another kind for "
     "each other (default: ROTA_PORTS, or 7700-7955)"},
    {kData, "", "transport", "auto|shm|tcp",
     "How ranks move data (default: auto, which is shm between those that one rotarun starts, "
     "and tcp between others)"},
    {kData, "", "tuned", "FILE",
     "Take the plans of all-reduces from this file of rota-bench tune's, which rank 0 reads "
     "(default: ROTA_TUNED, or no file)"},
    {kOutput, "", "tag-output", "", "Begin each line of output with the rank that wrote it"},
    {kOutput, "", "timestamp-output", "",
     "Begin each line of output with the time at which it came, in UTC"},
    {kOutput, "", "gather-output", "",
     "Show the output of all hosts where host 0 is, which decides on it (default: each shows that "
     "of its own ranks)"},
    {kOutput, "", "output-filename", "DIR",
     "Copy each rank's output to DIR/rank.N/stdout and DIR/rank.N/stderr as well"},
    {kPrograms, "", "wdir", "DIR", "Where the ranks run; a relative program path starts there too"},
    {kPrograms, "", "role", "worker|evaluator",
     "Of a program: worker makes ranks of it; evaluator starts it beside them, without a rank, "
     "until they have ended (default: worker)"},
    {kEnd, "", "timeout", "SECONDS", "End the job after this time (default: never)"},
    {kEnd, "", "deadline", "SECONDS",
     "How long one collective may take, and how long a rank may stay stopped (default: 60)"},
    {kEnd, "", "grace", "SECONDS",
     "How long ranks have to end before SIGKILL (default: 0.5 after a failure, 20 when rotarun was "
     "asked to end the job)"},
    {kAsked, "", "status-port", "[ADDRESS:]PORT",
     "Answer there over HTTP how the job is: /livez, /readyz and /ranks (default address: "
     "127.0.0.1; default: nowhere)"},
    {kEnd, "", "when-done", "exit|wait",
     "After the success of all hosts exit; or wait until somebody asks for the end, answer at "
     "--status-port that it is done, and exit with 0 then (default: exit)"},
    {kAsked, "", "show-ranks", "", "Print the rank table and start nothing"},
    {kAsked, "", "preflight", "",
     "Look on all hosts whether the job could run, and how fast each edge of the ring is; start "
     "nothing of it. Ends with 0: fine, 10: degraded, 20: unusable, 30: could not tell"},
    {kAsked, "", "json", "", "Print that as JSON: the rank table, or what --preflight finds"},
    {kAsked, "", "explain", "",
     "Print what the environment says about hosts and ranks, which source decides, and the rank "
     "table; start nothing"},
    {kAsked, "v", "verbose", "", "Say what was decided, and why"},
    {kAsked, "V", "version", "", "Print the version"},
    {kAsked, "h", "help", "", "Print this text"},
};

constexpr std::string_view kNoModules =
    "it sets parameters of Open MPI's modules, and rotarun needs none: leave it out";
constexpr std::string_view kAsks = "rotarun asks nobody's leave for that: leave it out";

constexpr Habit kHabits[] = {
    {"machinefile", "hostfile"},
    {"hosts", "host"},
    {"N", "map-by", "ppr:", ":node"},
    {"npernode", "map-by", "ppr:", ":node"},
    {"ppn", "map-by", "ppr:", ":node"},
    {.name = "mca", .flag = "", .advice = kNoModules},
    {.name = "gmca", .flag = "", .advice = kNoModules},
    {.name = "pmca", .flag = "", .advice = kNoModules},
    {.name = "prtemca", .flag = "", .advice = kNoModules},
    {.name = "allow-run-as-root", .flag = "", .advice = kAsks},
    {.name = "npersocket", .flag = "", .advice = "--map-by numa goes around the NUMA nodes"},
    {.name = "genv", .flag = "", .advice = "-x NAME=VALUE sets a variable for the ranks"},
    {.name = "env", .flag = "", .advice = "-x NAME=VALUE sets a variable for the ranks"},
    {.name = "genvall", .flag = "", .advice = "ranks have rotarun's environment: leave it out"},
    {.name = "display-map", .flag = "", .advice = "--show-ranks prints it"},
    {.name = "display-allocation", .flag = "", .advice = "--explain prints it"},
    {.name = "use-hwthread-cpus",
     .flag = "",
     .advice = "each hardware thread is a CPU: leave it out"},
};

}  // namespace

const Habit* find_habit(std::string_view name) noexcept {
  for (const Habit& habit : kHabits) {
    if (habit.name == name) return &habit;
  }
  return nullptr;
}

std::span<const Flag> flags() noexcept { return kFlags; }

const Flag* find_flag(std::string_view name) noexcept {
  for (const Flag& flag : kFlags) {
    if (!name.empty() && (flag.name == name || flag.short_name == name)) return &flag;
  }
  return nullptr;
}

std::string_view nearest_flag(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Flag& flag : kFlags) names.push_back(flag.name);
  return nearest_name(name, names);
}

}  // namespace rota::launcher
