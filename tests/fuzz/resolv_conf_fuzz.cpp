// Fuzzes resolv.conf, and a name to look up. The first line is the name, the second line is the
// host's name, and the rest is the file.
#include "fuzz/fuzz.h"
#include "names/completion.h"
#include "names/hosts_file.h"
#include "names/words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  std::string_view text = fuzz::text_of(data, count);
  const auto take_connection = [&] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  const std::string_view name = take_connection();
  const std::string_view host_name = take_connection();
  const names::ResolvConf conf = names::parse_resolv_conf(text, host_name);
  fuzz::require(!conf.servers.empty() && conf.servers.size() <= names::kMaxServers,
                "there are some servers");
  fuzz::require(conf.search.size() <= names::kMaxDomains && conf.ndots <= names::kMaxDots,
                "there are limits");
  const auto zone = names::cluster_zone(conf.search);
  const auto whole = names::complete(name, conf);
  fuzz::require(whole.size() <= conf.search.size() + 1, "each is asked for once");
  for (const std::string& one : whole) {
    fuzz::require(one.ends_with('.') && one.size() > 1 && one.size() <= 254, "each is absolute");
    fuzz::require(one.find("..") == std::string::npos, "each is a name");
    fuzz::require(one.starts_with(name), "the name itself is whole");
    const bool is_short = name.find('.') == std::string_view::npos;
    fuzz::require(!zone || !is_short || names::same_name(*zone, name) ||
                      one.size() > name.size() + zone->size(),
                  "a short name stays in the cluster");
  }
  names::addresses_in(text, name, "1");
  return 0;
}
