// Has the flags that rotarun knows, and searches for the flag that a user may have meant.
#include "launcher/command/flags.h"

#include <rota/nearest_name.h>

#include <algorithm>
#include <vector>

namespace rota::launcher {
namespace {

constexpr std::string_view kRanks = "Ranks";
constexpr std::string_view kHosts = "Several hosts";
constexpr std::string_view kPrograms = "Programs";
constexpr std::string_view kData = "Data";
constexpr std::string_view kOutput = "Output";
constexpr std::string_view kEnd = "End of the job";
constexpr std::string_view kAsked = "Information";

constexpr Flag kFlags[] = {
    {kRanks, "n", "np", "N", "Ranks to start (default: one for each slot)"},
    {kHosts, "H", "host", "HOST[:SLOTS],...",
     "The hosts of the job, and how many ranks each has room for; the same list on each host"},
    {kHosts, "", "hostfile", "FILE",
     "Read the hosts and their slots from a file, with a line \"HOST slots=N\" for each host"},
    {kHosts, "", "this-host", "",
     "A world of this host alone, whatever the environment says about other hosts"},
    {kHosts, "", "agent", "COMMAND",
     "The command that starts rotarun on the hosts of --host, --hostfile or an allocation; {host} "
     "is the host's name (default: \"ssh -o BatchMode=yes {host}\"; in a Slurm allocation: srun; "
     "none: you start rotarun on each host)"},
    {kHosts, "", "prefix", "DIR",
     "Where rota is installed on the other hosts (default: where this rotarun is)"},
    {kHosts, "", "address", "ADDRESS",
     "The IP address of this host to which the other hosts connect (default: for each other host, "
     "the address that this host has on the route to that host)"},
    {kInternal, "", "follow", "",
     "Started by --agent: obey the rotarun that writes to standard input"},
    {kHosts, "", "key-file", "FILE",
     "The key that the hosts share (default: ROTA_KEY_FILE, /etc/rota/key, ~/.config/rota/key)"},
    {kHosts, "", "key-fd", "N",
     "Read the key from descriptor N, which is 3 or more, to its end; no other process gets the "
     "descriptor"},
    {kHosts, "", "encrypt", "",
     "Encrypt all TCP traffic between hosts and ranks; set it on all hosts or on none (default: "
     "ROTA_ENCRYPT)"},
    {kHosts, "", "insecure", "", "Use no key; all hosts must be on loopback"},
    {kHosts, "", "join-timeout", "SECONDS",
     "How long the hosts may take to find each other (default: 600; 30 on loopback), and how long "
     "the ranks of an MPI may wait for each other (default: 600)"},
    {kPrograms, "x", "export", "NAME[=VALUE]",
     "Set a variable for the ranks, which have rotarun's environment anyway. If VALUE is left out "
     "and rotarun does not have the variable, rotarun warns"},
    {kRanks, "", "bind-to", "none|core|numa",
     "What a rank is bound to (default: core or numa if --map-by names it, otherwise none)"},
    {kRanks, "", "map-by", "slot|node|ppr:N:node|core|numa",
     "How ranks are dealt to hosts: slot fills a host, core by core, before the next host; node "
     "goes around the hosts; ppr:N:node gives N ranks to each host; core and numa fill hosts as "
     "slot does, and go around a host's cores or NUMA nodes (default: slot)"},
    {kRanks, "", "rank-by", "slot|node",
     "How ranks are numbered: slot numbers all ranks of a host, then of the next; node goes around "
     "the hosts (default: slot)"},
    {kRanks, "", "cpus-per-rank", "N",
     "A slot is N CPUs. N is each rank's OMP_NUM_THREADS, and a rank that is bound is bound to N "
     "CPUs"},
    {kRanks, "", "oversubscribe", "", "Allow more ranks than slots"},
    {kRanks, "", "share-devices", "", "Let ranks of a host use the same CUDA devices"},
    {kPrograms, "", "mpi", "auto|pmix|pmi|none",
     "How MPI_Init in a rank learns about the other ranks. auto: as the MPI library that the "
     "program's file names needs it; pmix: for Open MPI; pmi: for MPICH; none: not at all, so that "
     "for MPI each rank is a world of one (default: auto)"},
    {kRanks, "", "report-bindings", "",
     "Print where each rank runs, and which CPUs it is bound to"},
    {kHosts, "", "ports", "FIRST-LAST",
     "The ports at which rotarun and the ranks may listen for other hosts, and where programs "
     "without rota may find each other (default: ROTA_PORTS, or 7700-7955)"},
    {kData, "", "transport", "auto|shm|tcp|mpi",
     "How ranks move data (default: auto, which is shm between ranks of one rotarun, or if all "
     "ranks are on one machine; otherwise tcp). mpi: over an MPI, which the program need not know"},
    {kData, "", "tuned", "FILE",
     "Take the plans of all-reduces from this file, which rota-bench tune wrote and rank 0 reads "
     "(default: ROTA_TUNED, or no file)"},
    {kOutput, "", "tag-output", "", "Begin each line of output with the rank that wrote it"},
    {kOutput, "", "timestamp-output", "",
     "Begin each line of output with the time at which rotarun read it, in UTC"},
    {kOutput, "", "gather-output", "",
     "Show the output of all hosts at host 0; only host 0 needs this option (default: each host "
     "shows the output of its own ranks)"},
    {kOutput, "", "output-filename", "DIR",
     "Copy each rank's output to DIR/rank.N/stdout and DIR/rank.N/stderr as well"},
    {kPrograms, "", "wdir", "DIR",
     "The working directory of the ranks; a relative program path starts there"},
    {kPrograms, "", "role", "worker|evaluator",
     "The role of a program. worker: its processes are ranks; evaluator: it runs beside the ranks, "
     "without a rank, until they have ended (default: worker)"},
    {kEnd, "", "timeout", "SECONDS", "End the job after this time (default: never)"},
    {kEnd, "", "deadline", "SECONDS",
     "How long one collective may take, and how long a rank may stay stopped (default: 60)"},
    {kEnd, "", "grace", "SECONDS",
     "How long ranks have to end before SIGKILL (default: 0.5 after a failure, 20 if rotarun was "
     "asked to end the job)"},
    {kEnd, "", "stop-signal", "USR1|USR2",
     "A request to end the job, as SIGTERM is (default: rotarun passes SIGUSR1 and SIGUSR2 on to "
     "the ranks of all hosts)"},
    {kAsked, "", "status-port", "[ADDRESS:]PORT",
     "Report the state of the job there over HTTP: /livez, /readyz and /ranks (default address: "
     "127.0.0.1; default: no port)"},
    {kEnd, "", "when-done", "exit|wait",
     "When all hosts have succeeded: exit; or report at --status-port that the job is done, wait "
     "until rotarun is asked to end, and exit with 0 (default: exit)"},
    {kAsked, "", "show-ranks", "", "Print the rank table and start nothing"},
    {kAsked, "", "preflight", "",
     "Check on all hosts whether the job could run, and how fast each edge of the ring is; do not "
     "start the job. Exit codes: 0 fine, 10 degraded, 20 unusable, 30 could not tell"},
    {kAsked, "", "json", "", "Print the rank table, or what --preflight finds, as JSON"},
    {kAsked, "", "explain", "",
     "Print what the environment says about hosts and ranks, which source decides, the rank table, "
     "and which MPI each program has; start nothing"},
    {kAsked, "v", "verbose", "", "Print what rotarun decides, and why"},
    {kAsked, "V", "version", "", "Print the version"},
    {kAsked, "h", "help", "", "Print this help"},
};

constexpr std::string_view kNoModules =
    "it sets parameters of Open MPI modules, which rotarun does not have: leave it out";
constexpr std::string_view kAsks = "rotarun always allows that: leave it out";
constexpr std::string_view kNamesHosts =
    "for one host, leave it out; for several, name them with --host a:2,b:2, and one rotarun "
    "starts the job on all of them";
constexpr std::string_view kFindsWay =
    "for each other host, rotarun listens at the address on the route to it: leave this out, or "
    "use --address ADDRESS";

constexpr Habit kHabits[] = {
    {"machinefile", "hostfile"},
    {"f", "hostfile"},
    {"hosts", "host"},
    {"N", "map-by", "ppr:", ":node"},
    {"npernode", "map-by", "ppr:", ":node"},
    {"ppn", "map-by", "ppr:", ":node"},
    {"nproc-per-node", "map-by", "ppr:", ":node"},
    {"start-timeout", "join-timeout"},
    {.name = "mca", .flag = "", .advice = kNoModules},
    {.name = "gmca", .flag = "", .advice = kNoModules},
    {.name = "pmca", .flag = "", .advice = kNoModules},
    {.name = "prtemca", .flag = "", .advice = kNoModules},
    {.name = "allow-run-as-root", .flag = "", .advice = kAsks},
    {.name = "npersocket",
     .flag = "",
     .advice = "use --map-by numa, which goes around the NUMA nodes"},
    {.name = "genv",
     .flag = "",
     .advice = "use -x NAME=VALUE, which sets a variable for the ranks"},
    {.name = "env", .flag = "", .advice = "use -x NAME=VALUE, which sets a variable for the ranks"},
    {.name = "genvall", .flag = "", .advice = "ranks have rotarun's environment: leave it out"},
    {.name = "display-map", .flag = "", .advice = "use --show-ranks"},
    {.name = "display-allocation", .flag = "", .advice = "use --explain"},
    {.name = "use-hwthread-cpus",
     .flag = "",
     .advice = "each hardware thread is a CPU: leave it out"},
    {.name = "nnodes", .flag = "", .advice = kNamesHosts},
    {.name = "node-rank", .flag = "", .advice = kNamesHosts},
    {.name = "master-addr", .flag = "", .advice = kNamesHosts},
    {.name = "master-port", .flag = "", .advice = "use --ports FIRST-LAST"},
    {.name = "rdzv-backend", .flag = "", .advice = kNamesHosts},
    {.name = "rdzv-endpoint", .flag = "", .advice = kNamesHosts},
    {.name = "rdzv-id", .flag = "", .advice = kNamesHosts},
    {.name = "standalone",
     .flag = "",
     .advice = "without --host, the job runs on this host: leave it out"},
    {.name = "no-python", .flag = "", .advice = "rotarun starts any program: leave it out"},
    {.name = "max-restarts",
     .flag = "",
     .advice = "rotarun starts nothing again: let a script or Kubernetes start the job again, and "
               "the program go on from its newest checkpoint"},
    {.name = "iface", .flag = "", .advice = kFindsWay},
    {.name = "network-interface", .flag = "", .advice = kFindsWay},
    {.name = "network-interfaces", .flag = "", .advice = kFindsWay},
};

// Returns whether this is the habit that was typed. torchrun takes "_" in place of "-".
bool is_habit(std::string_view typed, const Habit& habit) noexcept {
  return std::ranges::equal(typed, habit.name, {},
                            [](char letter) { return letter == '_' ? '-' : letter; });
}

}  // namespace

const Habit* find_habit(std::string_view name) noexcept {
  for (const Habit& habit : kHabits) {
    if (is_habit(name, habit)) return &habit;
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
