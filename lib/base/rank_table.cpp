// Prints a rank table for a person.
#include <rota/rank_table.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace rota {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

RankTable table_of(const std::vector<std::string>& addresses) {
  RankTable table;
  for (const std::string& address : addresses) table.rows.push_back({.address = address});
  return table;
}

std::string to_text(const RankTable& table) {
  std::set<std::string> hosts;
  std::size_t host_width = 4;
  std::size_t address_width = 7;
  for (const RankRow& row : table.rows) {
    hosts.insert(row.host);
    host_width = std::max(host_width, row.host.size());
    address_width = std::max(address_width, row.address.size());
  }
  std::ostringstream text;
  text << "epoch " << table.epoch << " · world " << table.rows.size() << " on " << hosts.size()
       << (hosts.size() == 1 ? " host · " : " hosts · ") << table.transport << " · "
       << table.source;
  if (!table.tuned.empty()) text << " · tuned by " << table.tuned;
  text << "\n";
  text << "rank  local  " << padded("host", host_width) << "  " << padded("address", address_width)
       << "  cores\n";
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    const RankRow& row = table.rows[rank];
    const std::string number = std::to_string(rank);
    const std::string local = std::to_string(row.local_rank);
    text << std::string(4 - std::min<std::size_t>(4, number.size()), ' ') << number << "  "
         << std::string(5 - std::min<std::size_t>(5, local.size()), ' ') << local << "  "
         << padded(row.host, host_width) << "  "
         << padded(row.address.empty() ? "-" : row.address, address_width) << "  "
         << (row.cores.empty() ? "any" : row.cores) << "\n";
  }
  return text.str();
}

}  // namespace rota
