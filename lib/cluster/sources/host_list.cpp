// Parses lists of hosts with slots, such as "a:2,b:2", and host files.
#include "cluster/sources/host_list.h"

#include <algorithm>
#include <unordered_map>

#include "cluster/host_names.h"
#include "os/address.h"

namespace rota::cluster {
namespace {

constexpr Range kSlots{.least = 1, .most = kMaxRanks};

// Adds up the slots of a host that a list names several times.
class Collector {
 public:
  explicit Collector(std::string what) : what_(std::move(what)) {}

  void add(Host said) {
    const std::string name = said.name;
    const auto [found, is_new] = index_.try_emplace(to_compare(name), hosts_.size());
    if (is_new) {
      if (hosts_.size() == kMaxRanks) {
        refuse(what_ + " has more than " + std::to_string(kMaxRanks) + " hosts");
      }
      hosts_.push_back(std::move(said));
      return;
    }
    Host& host = hosts_[found->second];
    host.slots = host.slots.value_or(1) + said.slots.value_or(1);
    if (said.most_slots) {
      host.most_slots = std::min(host.most_slots.value_or(kMaxRanks), *said.most_slots);
    }
    if (host.most_slots && *host.slots > *host.most_slots) {
      refuse(what_ + ": " + shown(name) + " has " + std::to_string(*host.slots) +
             " slots in total, but max_slots=" + std::to_string(*host.most_slots) +
             ": correct one of the two");
    }
    if (*host.slots > kMaxRanks) {
      refuse(what_ + ": " + shown(name) + " has " + std::to_string(*host.slots) +
             " slots in total, but at most " + std::to_string(kMaxRanks) + " are allowed");
    }
  }

  std::vector<Host> take() { return std::move(hosts_); }

 private:
  std::string what_;
  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> index_;  // By to_compare() of the name.
};

// Refuses a user name. rotarun does not log in itself: the user name belongs to the program that
// logs in, such as ssh.
void require_no_user(const std::string& what, std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return;
  refuse(what + " has " + shown(name) + ", but rotarun does not log in itself: leave out " +
         shown(name.substr(0, at + 1)) +
         ", and name the user in ~/.ssh/config or with --agent \"ssh -l USER {host}\"");
}

// Splits a word of a host file. In a line of a host file, slots are words after the host. So a bare
// IPv6 address has no number of slots at its end.
NameAndNumber split_word(const std::string& where, std::string_view word) {
  const std::string number(word.substr(0, word.find('%')));
  const bool is_bare =
      std::ranges::count(number, ':') > 1 && os::numeric_address({.host = number, .port = "1"});
  return split_name(where, is_bare ? "[" + std::string(word) + "]" : word);
}

// Returns the words of a line, without its comment.
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
  constexpr std::string_view kMost = "max_slots=";
  require_no_user(where, words.front());
  const NameAndNumber parts = split_word(where, words.front());
  std::optional<std::size_t> slots;
  if (parts.number)
    slots = to_number(where + ": the slots of " + parts.name, *parts.number, kSlots);
  std::optional<std::size_t> most;
  for (std::string_view word : std::span(words).subspan(1)) {
    if (word.starts_with(kMost) || word.starts_with("max-slots=")) {
      if (most) refuse(where + " sets max_slots of " + parts.name + " twice");
      most = to_number(where + ": max_slots", word.substr(kMost.size()), kSlots);
      continue;
    }
    if (!word.starts_with(kKey)) {
      refuse(where + " has " + shown(word) +
             ", but only slots=N and max_slots=N can follow a host");
    }
    if (slots) refuse(where + " sets the slots of " + parts.name + " twice");
    slots = to_number(where + ": slots", word.substr(kKey.size()), kSlots);
  }
  if (most && slots.value_or(1) > *most) {
    refuse(where + " has " + std::to_string(*slots) + " slots of " + parts.name +
           ", but max_slots=" + std::to_string(*most) + ": leave out the one that is wrong");
  }
  hosts.add({.name = parts.name, .slots = slots, .most_slots = most});
}

// Returns the host with which a line of a batch system begins.
std::string first_host(const std::string& where, std::string_view word) {
  const NameAndNumber parts = split_word(where, word);
  if (parts.number) refuse(where + " has " + shown(word) + ", which is not a host");
  return parts.name;
}

void add_mention(const std::string& where, const std::vector<std::string_view>& words,
                 Collector& hosts) {
  if (words.size() > 1) {
    refuse(where + " has " + shown(words[1]) + ", but nothing can follow a host");
  }
  hosts.add({.name = first_host(where, words.front()), .slots = 1});
}

void add_queue(const std::string& where, const std::vector<std::string_view>& words,
               Collector& hosts) {
  const std::string host = first_host(where, words.front());
  if (words.size() < 2) refuse(where + " has " + shown(host) + ", but not its number of slots");
  hosts.add({.name = host, .slots = to_number(where + ": the slots of " + host, words[1], kSlots)});
}

using AddLine = void (*)(const std::string& where, const std::vector<std::string_view>& words,
                         Collector& hosts);

// Adds each line that has words. `example` shows in an error text what a line looks like.
std::vector<Host> parse_lines(const std::string& path, std::string_view text, AddLine add,
                              const std::string& example) {
  Collector hosts(path);
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto words = words_of(line);
    if (!words.empty()) add(path + ":" + std::to_string(number), words, hosts);
  }
  std::vector<Host> all = hosts.take();
  if (all.empty()) refuse(path + " names no host: a line looks like \"" + example + "\"");
  return all;
}

}  // namespace

std::vector<Host> parse_host_list(const std::string& what, std::string_view text) {
  Collector hosts(what);
  for (const std::string_view item : split(text, ',')) {
    require_no_user(what, item);
    const NameAndNumber parts = split_name(what, item);
    std::optional<std::size_t> slots;
    if (parts.number) {
      slots =
          to_number("the number of slots of " + parts.name + " in " + what, *parts.number, kSlots);
    }
    hosts.add({.name = parts.name, .slots = slots});
  }
  return hosts.take();
}

std::vector<Host> parse_hostfile(const std::string& path, std::string_view text) {
  return parse_lines(path, text, add_line, "node1 slots=4");
}

std::vector<Host> parse_node_file(const std::string& path, std::string_view text) {
  return parse_lines(path, text, add_mention, "node1");
}

std::vector<Host> parse_queue_file(const std::string& path, std::string_view text) {
  return parse_lines(path, text, add_queue, "node1 4 all.q@node1 UNDEFINED");
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
  Specification specification =
      specification_of_hosts("--host", parse_host_list("--host", *given.host_list), given);
  specification.is_start_list = true;
  return specification;
}

std::optional<Specification> from_hostfile(const Given& given) {
  if (!given.hostfile) return std::nullopt;
  const std::string source = given.hostfile->given_by + " " + given.hostfile->path;
  Specification specification = specification_of_hosts(
      source, parse_hostfile(given.hostfile->path, given.hostfile->text), given);
  specification.is_start_list = true;
  return specification;
}

}  // namespace rota::cluster
