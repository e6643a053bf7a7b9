// Parses a tuned file line by line.
#include "communicator/tuned_table.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <rota/error.h>

#include "base/transports.h"
#include "base/world_size.h"
#include "cluster/refusal.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Returns the possible values after 'transport', such as "shm, tcp, tcp encrypted".
std::string transports_in_words() {
  std::string words;
  for (const base::TransportRow& row : base::kTransports) {
    const std::string name(row.name);
    words += (words.empty() ? "" : ", ") + name + (row.listens ? ", " + name + " encrypted" : "");
  }
  return words;
}

class Parser {
 public:
  explicit Parser(const std::string& name) : name_(name) {}

  void read(std::string_view line) {
    ++line_number_;
    const auto words = split(line.substr(0, line.find('#')), " \t\r");
    if (words.empty()) return;
    const std::string_view subject = words.front();
    if (!has_version_) return read_version(words);
    if (subject == "transport") return read_transport(words);
    if (subject == "hosts") return read_hosts(words);
    if (subject == "all-reduce") return read_row(words);
    refuse(cluster::shown(subject) + " is none of transport, hosts and all-reduce");
  }

  TunedTable finish() {
    ++line_number_;
    if (!has_version_) refuse("it does not begin with 'rota-tuned 1'");
    if (table_.topology.transport.empty()) refuse("it has no line 'transport'");
    if (table_.topology.hosts.empty()) refuse("it has no line 'hosts'");
    if (table_.all_reduce.empty()) refuse("it has no line 'all-reduce 0 PLAN'");
    return std::move(table_);
  }

 private:
  using Words = std::vector<std::string_view>;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kInvalidArgument,
                "the tuned file " + name_ + ", line " + std::to_string(line_number_) + ": " + why);
  }

  std::size_t number(std::string_view text, std::size_t most) const {
    return cluster::to_number(
        "the tuned file " + name_ + ", line " + std::to_string(line_number_) + ": a number", text,
        {0, most});
  }

  void read_version(const Words& words) {
    if (words.size() != 2 || words[0] != "rota-tuned") {
      refuse("it does not begin with 'rota-tuned 1'");
    }
    if (words[1] != "1") {
      refuse("its format is " + cluster::shown(words[1]) +
             ", but this rota knows format 1: tune again");
    }
    has_version_ = true;
  }

  void read_transport(const Words& words) {
    Topology& topology = table_.topology;
    if (!topology.transport.empty()) refuse("it is a second line 'transport'");
    const std::string_view name = words.size() >= 2 ? words[1] : std::string_view();
    topology.encrypts = base::listens(name) && words.size() == 3 && words[2] == "encrypted";
    if (!base::find_transport(name) || words.size() != (topology.encrypts ? 3U : 2U)) {
      refuse("after 'transport' one of " + transports_in_words() + " is needed");
    }
    topology.transport = name;
  }

  // Reads one rank or a range of ranks: "3" or "0-2".
  void read_run(std::string_view text, std::vector<std::size_t>& ranks) const {
    const std::size_t dash = text.find('-');
    const std::size_t first = number(text.substr(0, dash), base::kMaxWorldSize - 1);
    const bool is_one = dash == std::string_view::npos;
    const std::size_t last =
        is_one ? first : number(text.substr(dash + 1), base::kMaxWorldSize - 1);
    if (last < first) refuse(cluster::shown(text) + " ends before it begins");
    for (std::size_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
  }

  // Reads the ranks of one host, such as "0-2,5". No other host may have these ranks.
  void read_host(std::string_view text, std::vector<std::size_t>& hosts) const {
    std::vector<std::size_t> ranks;
    for (const std::string_view run : split(text, ",")) {
      read_run(run, ranks);
      if (ranks.size() > base::kMaxWorldSize) break;  // Some rank appears twice.
    }
    if (ranks.empty()) refuse(cluster::shown(text) + " has no rank");
    hosts.resize(std::max(hosts.size(), std::ranges::max(ranks) + 1), kNobody);
    const std::size_t host = std::ranges::min(ranks);
    for (const std::size_t rank : ranks) {
      if (hosts[rank] != kNobody) refuse("rank " + std::to_string(rank) + " appears twice");
      hosts[rank] = host;
    }
  }

  void read_hosts(const Words& words) {
    if (!table_.topology.hosts.empty()) refuse("it is a second line 'hosts'");
    std::vector<std::size_t> hosts;
    for (std::size_t i = 1; i < words.size(); ++i) read_host(words[i], hosts);
    const auto missing = std::ranges::find(hosts, kNobody);
    if (missing != hosts.end()) {
      refuse("rank " + std::to_string(missing - hosts.begin()) + " is on no host");
    }
    if (hosts.empty()) refuse("the ranks of each host are needed, such as 'hosts 0-1 2-3'");
    table_.topology.hosts = std::move(hosts);
  }

  void read_row(const Words& words) {
    if (words.size() != 3) refuse("'all-reduce BYTES PLAN' is needed");
    const std::size_t bytes = number(words[1], std::numeric_limits<std::size_t>::max());
    const auto algorithm = collectives::algorithm_named(words[2]);
    if (!algorithm || !collectives::makes(*algorithm, Collective::kAllReduce)) {
      refuse("no all-reduce has the plan " + cluster::shown(words[2]));
    }
    if (collectives::is_of_library(*algorithm)) {
      refuse("the plan " + cluster::shown(words[2]) +
             " is of another library: ask for it in CommunicatorOptions::plan");
    }
    const bool share_all = base::sharing_over(table_.topology.transport) == base::Sharing::kAll;
    if (!collectives::has_plans(*algorithm) && !share_all) {
      refuse("the plan " + cluster::shown(words[2]) + " works only over the transport " +
             std::string(base::transport_for(base::Sharing::kAll).name));
    }
    auto& rows = table_.all_reduce;
    if (rows.empty() && bytes != 0) refuse("the first line 'all-reduce' must start at 0 bytes");
    if (!rows.empty() && bytes <= rows.back().from_bytes) {
      refuse("the bytes of the lines 'all-reduce' must ascend");
    }
    rows.push_back({bytes, *algorithm});
  }

  const std::string& name_;
  std::size_t line_number_ = 0;
  bool has_version_ = false;
  TunedTable table_;
};

}  // namespace

TunedTable parse_tuned(const std::string& name, std::string_view text) {
  Parser parser(name);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.finish();
}

std::string to_text(const TunedTable& table) {
  std::string text = "rota-tuned 1\ntransport " + table.topology.transport +
                     (table.topology.encrypts ? " encrypted" : "") + "\nhosts " +
                     hosts_in_words(table.topology) + "\n";
  for (const TunedTable::Row& row : table.all_reduce) {
    text += "all-reduce " + std::to_string(row.from_bytes) + " " +
            std::string(to_string(row.algorithm)) + "\n";
  }
  return text;
}

Algorithm tuned_all_reduce(const TunedTable& table, std::size_t bytes) noexcept {
  const auto above =
      std::ranges::upper_bound(table.all_reduce, bytes, {}, &TunedTable::Row::from_bytes);
  return std::prev(above)->algorithm;
}

}  // namespace rota
