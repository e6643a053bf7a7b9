// Prints a rank table for a person.
#include <rota/rank_table.h>

#include <algorithm>
#include <set>

namespace rota {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string behind_spaces(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
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
  std::string text = "epoch " + std::to_string(table.epoch) + " · world " +
                     std::to_string(table.rows.size()) + " on " + std::to_string(hosts.size()) +
                     (hosts.size() == 1 ? " host · " : " hosts · ") + table.transport + " · " +
                     table.source;
  if (!table.tuned.empty()) text += " · tuned by " + table.tuned;
  text += "\nrank  local  " + padded("host", host_width) + "  " + padded("address", address_width) +
          "  cores\n";
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    const RankRow& row = table.rows[rank];
    text += behind_spaces(std::to_string(rank), 4) + "  " +
            behind_spaces(std::to_string(row.local_rank), 5) + "  " + padded(row.host, host_width) +
            "  " + padded(row.address.empty() ? "-" : row.address, address_width) + "  " +
            (row.cores.empty() ? "any" : row.cores) + "\n";
  }
  return text;
}

}  // namespace rota
