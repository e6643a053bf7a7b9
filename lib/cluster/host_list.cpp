// Lists of hosts with their slots: "a:2,b:2", and files of lines.
#include "cluster/host_list.h"

#include <algorithm>
#include <unordered_map>

#include "cluster/host_names.h"

namespace rota::cluster {
namespace {

constexpr Range kSlots{.least = 1, .most = kMaxRanks};

// Adds up what is said of one host in several places.
class Collector {
 public:
  explicit Collector(std::string what) : what_(std::move(what)) {}

  void add(const std::string& name, std::optional<std::size_t> slots) {
    const auto [found, is_new] = index_.try_emplace(name, hosts_.size());
    if (is_new) {
      if (hosts_.size() == kMaxRanks) {
        refuse(what_ + " has more than " + std::to_string(kMaxRanks) + " hosts");
      }
      hosts_.push_back({.name = name, .slots = slots});
      return;
    }
    Host& host = hosts_[found->second];
    host.slots = host.slots.value_or(1) + slots.value_or(1);
    if (*host.slots > kMaxRanks) {
      refuse(what_ + ": " + shown(name) + " has " + std::to_string(*host.slots) +
             " slots altogether, and " + std::to_string(kMaxRanks) + " are the most");
    }
  }

  std::vector<Host> take() { return std::move(hosts_); }

 private:
  std::string what_;
  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> index_;
};

// The words of a line, without its comment.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\r\v\f";
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t begin = 0;;) {
    begin = line.find_first_not_of(kSpaces, begin);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
}

void add_line(const std::string& where, const std::vector<std::string_view>& words,
              Collector& hosts) {
  constexpr std::string_view kKey = "slots=";
  const NameAndNumber parts = split_name(where, words.front());
  std::optional<std::size_t> slots;
  if (parts.number)
    slots = to_number(where + ": the slots of " + parts.name, *parts.number, kSlots);
  for (const std::string_view word : std::span(words).subspan(1)) {
    if (!word.starts_with(kKey)) {
      refuse(where + " has " + shown(word) + ", and slots=N is all that may follow a host");
    }
    if (slots) refuse(where + " says twice how many slots " + parts.name + " has");
    slots = to_number(where + ": slots", word.substr(kKey.size()), kSlots);
  }
  hosts.add(parts.name, slots);
}

}  // namespace

std::vector<Host> parse_host_list(const std::string& what, std::string_view text) {
  Collector hosts(what);
  for (const std::string_view item : split(text, ',')) {
    const NameAndNumber parts = split_name(what, item);
    std::optional<std::size_t> slots;
    if (parts.number) {
      slots =
          to_number("the number of slots of " + parts.name + " in " + what, *parts.number, kSlots);
    }
    hosts.add(parts.name, slots);
  }
  return hosts.take();
}

std::vector<Host> parse_hostfile(const std::string& path, std::string_view text) {
  Collector hosts(path);
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto words = words_of(line);
    if (!words.empty()) add_line(path + ":" + std::to_string(number), words, hosts);
  }
  std::vector<Host> all = hosts.take();
  if (all.empty()) refuse(path + " names no host: a line is such as \"node1 slots=4\"");
  return all;
}

Specification specification_of_hosts(const std::string& source, std::vector<Host> hosts,
                                     const Given& given) {
  Specification specification{.source = source, .hosts = std::move(hosts)};
  specification.own_host = find_host(specification.hosts, given.host_name, given.host_addresses);
  require_reachable(specification);
  return specification;
}

std::optional<Specification> from_host_list(const Given& given) {
  if (!given.host_list) return std::nullopt;
  return specification_of_hosts("--host", parse_host_list("--host", *given.host_list), given);
}

std::optional<Specification> from_hostfile(const Given& given) {
  if (!given.hostfile) return std::nullopt;
  const std::string source = "--hostfile " + given.hostfile->path;
  return specification_of_hosts(source, parse_hostfile(given.hostfile->path, given.hostfile->text),
                                given);
}

}  // namespace rota::cluster
