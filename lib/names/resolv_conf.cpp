// Reads resolv.conf word by word, and ignores unknown words.
#include "names/resolv_conf.h"

#include <algorithm>
#include <charconv>

#include "names/words.h"

namespace rota::names {
namespace {

void add_server(ResolvConf& conf, std::string_view number) {
  if (conf.servers.size() == kMaxServers) return;
  const auto server = os::numeric_address({.host = std::string(number), .port = "53"});
  if (server) conf.servers.push_back(*server);
}

void read_option(ResolvConf& conf, std::string_view option) {
  constexpr std::string_view kNdots = "ndots:";
  if (option == "use-vc") conf.by_stream = true;
  if (!option.starts_with(kNdots)) return;
  option.remove_prefix(kNdots.size());
  std::size_t count = 0;
  const char* end = option.data() + option.size();
  const auto result = std::from_chars(option.data(), end, count);
  if (result.ec == std::errc::result_out_of_range) count = kMaxDots;
  const bool is_number = result.ec != std::errc::invalid_argument && result.ptr == end;
  if (is_number) conf.ndots = std::min(count, kMaxDots);
}

std::string without_last_dot(std::string_view domain) {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  return std::string(domain);
}

}  // namespace

ResolvConf parse_resolv_conf(std::string_view text, std::string_view host_name) {
  ResolvConf conf;
  bool names_domains = false;
  for (const std::string_view line : lines_of(text)) {
    // The system ignores a line that begins with a space.
    if (line.empty() || is_space(line.front())) continue;
    const auto words = words_of(line);
    if (words.size() < 2) continue;
    const std::string_view what = words.front();
    if (what == "nameserver") add_server(conf, words[1]);
    if (what == "options") {
      for (std::size_t i = 1; i < words.size(); ++i) read_option(conf, words[i]);
    }
    if (what != "search" && what != "domain") continue;
    names_domains = true;
    conf.search.clear();
    const std::size_t end = what == "domain" ? 2 : std::min(words.size(), kMaxDomains + 1);
    for (std::size_t i = 1; i < end; ++i) conf.search.push_back(without_last_dot(words[i]));
  }
  const std::size_t dot = host_name.find('.');
  if (!names_domains && dot != std::string_view::npos && dot + 1 < host_name.size()) {
    conf.search.push_back(without_last_dot(host_name.substr(dot + 1)));
  }
  if (conf.servers.empty()) conf.servers.push_back(os::parse_address("127.0.0.1:53"));
  return conf;
}

}  // namespace rota::names
