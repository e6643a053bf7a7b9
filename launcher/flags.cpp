// The flags that rotarun knows, and which of them somebody may have meant.
#include "launcher/flags.h"

#include <rota/nearest_name.h>

#include <vector>

namespace rota::launcher {
namespace {

constexpr Flag kFlags[] = {
    {"n", "np", "N", "Ranks to start (default: one for each slot)"},
    {"H", "host", "HOST[:SLOTS],...",
     "The hosts of the job, and how many ranks each has room for; the same on each of them"},
    {"", "hostfile", "FILE", "The same, with a line \"HOST slots=N\" for each host"},
    {"", "this-host", "", "A world of this host alone, whatever the environment says about others"},
    {"", "agent", "COMMAND",
     "Start rotarun on the hosts of --host and --hostfile by this, where {host} is the host's name "
     "(default: \"ssh -o BatchMode=yes {host}\"; srun in an allocation of Slurm's; none: it is "
     "started there already)"},
    {"", "prefix", "DIR", "Where rotarun is installed on those hosts (default: where this one is)"},
    {"", "address", "NUMBER",
     "The address by which they reach this host (default: that of the way to each)"},
    {"", "follow", "", "What --agent starts: do what the rotarun says that writes to our input"},
    {"", "key-file", "FILE",
     "The key that the hosts share (default: ROTA_KEY_FILE, /etc/rota/key, ~/.config/rota/key)"},
    {"", "key-fd", "N",
     "Read it from descriptor N, which is 3 or more, to its end; nobody else gets the descriptor"},
    {"", "encrypt", "",
     "Encrypt what hosts and ranks say to each other over TCP, on all hosts or on none (default: "
     "ROTA_ENCRYPT)"},
    {"", "insecure", "", "Do without a key, among hosts that are all on loopback"},
    {"", "join-timeout", "SECONDS",
     "How long the hosts may take to find each other (default: 600; 30 on loopback)"},
    {"x", "export", "NAME[=VALUE]",
     "Set a variable for the ranks. They have rotarun's environment anyway; a NAME without VALUE "
     "warns when it is not set there"},
    {"", "bind-to", "none|core|numa",
     "What a rank is bound to (default: what --map-by names, none otherwise)"},
    {"", "map-by", "slot|node|ppr:N:node|core|numa",
     "How ranks are dealt: slot fills a host before the next one, and there each core's hardware "
     "threads in turn; node goes around the hosts; ppr:N:node gives N to each of them; core and "
     "numa are slot, and go around a host's cores or NUMA nodes (default: slot)"},
    {"", "rank-by", "slot|node",
     "How ranks are numbered: slot goes from host to host, node around them (default: slot)"},
    {"", "cpus-per-rank", "N",
     "A slot is N CPUs; so many are bound to each rank, if ranks are bound, and are its "
     "OMP_NUM_THREADS"},
    {"", "oversubscribe", "", "There may be more ranks than slots"},
    {"", "report-bindings", "", "Say where each rank is, and which CPUs it is bound to"},
    {"", "ports", "FIRST-LAST",
     "Where rotarun and the ranks may listen for other hosts, and programs of another kind for "
     "each "
     "other (default: ROTA_PORTS, or 7700-7955)"},
    {"", "transport", "auto|shm|tcp",
     "How ranks move data (default: auto, which is shm between those that one rotarun starts, "
     "and tcp between others)"},
    {"", "tuned", "FILE",
     "Take the plans of all-reduces from this file of rota-bench tune's, which rank 0 reads "
     "(default: ROTA_TUNED, or no file)"},
    {"", "tag-output", "", "Begin each line of output with the rank that wrote it"},
    {"", "timestamp-output", "",
     "Begin each line of output with the time at which it came, in UTC"},
    {"", "gather-output", "",
     "Show the output of all hosts where host 0 is, which decides on it (default: each shows that "
     "of its own ranks)"},
    {"", "output-filename", "DIR",
     "Copy each rank's output to DIR/rank.N/stdout and DIR/rank.N/stderr as well"},
    {"", "wdir", "DIR", "Where the ranks run; a relative program path starts there too"},
    {"", "role", "worker|evaluator",
     "Of a program: worker makes ranks of it; evaluator starts it beside them, without a rank, "
     "until they have ended (default: worker)"},
    {"", "timeout", "SECONDS", "End the job after this time (default: never)"},
    {"", "deadline", "SECONDS",
     "How long one collective may take, and how long a rank may stay stopped (default: 60)"},
    {"", "grace", "SECONDS",
     "How long ranks have to end before SIGKILL (default: 0.5 after a failure, 20 when rotarun was "
     "asked to end the job)"},
    {"", "status-port", "[ADDRESS:]PORT",
     "Answer there over HTTP how the job is: /livez, /readyz and /ranks (default address: "
     "127.0.0.1; default: nowhere)"},
    {"", "when-done", "exit|wait",
     "After the success of all hosts exit; or wait until somebody asks for the end, answer at "
     "--status-port that it is done, and exit with 0 then (default: exit)"},
    {"", "show-ranks", "", "Print the rank table and start nothing"},
    {"", "preflight", "",
     "Look on all hosts whether the job could run, and how fast each edge of the ring is; start "
     "nothing of it. Ends with 0: fine, 10: degraded, 20: unusable, 30: could not tell"},
    {"", "json", "", "Print that as JSON: the rank table, or what --preflight finds"},
    {"", "explain", "",
     "Print what the environment says about hosts and ranks, which source decides, and the rank "
     "table; start nothing"},
    {"v", "verbose", "", "Say what was decided, and why"},
    {"V", "version", "", "Print the version"},
    {"h", "help", "", "Print this text"},
};

}  // namespace

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
