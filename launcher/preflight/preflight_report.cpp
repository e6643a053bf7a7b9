// Prints the result of a preflight as columns and as JSON.
#include "launcher/preflight/preflight_report.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/number_text.h"

namespace rota::preflight {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

constexpr std::size_t kNumberColumn = 1;  // Edge columns from this index on are numbers.

// Aligns columns at the width of their widest cell. Cells of the columns from `first_number` on are
// aligned to the right. The last column has no padding.
std::string align(const std::vector<Row>& rows, std::size_t first_number) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blank(widths[i] - row[i].size(), ' ');
      const bool is_number = i >= first_number && i + 1 < row.size();
      line += (i == 0 ? "" : "  ") + (is_number ? blank + row[i] : row[i] + blank);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string checks_text(const Judgement& judgement) {
  std::vector<Row> rows = {{"check", "verdict", "found"}};
  for (const Finding& finding : judgement.findings) {
    rows.push_back({finding.check, std::string(to_string(finding.verdict)), to_text(finding)});
  }
  return align(rows, rows.front().size());
}

std::string edges_text(const Inspection& inspection, const Judgement& judgement) {
  std::vector<Row> rows = {{"edge", "latency", "of median", "bandwidth", "of median", ""}};
  for (std::size_t i = 0; i < inspection.edges.size(); ++i) {
    const Edge& edge = inspection.edges[i];
    const EdgeRating& rating = judgement.edges[i];
    rows.push_back({inspection.hosts[edge.from].name + " -> " + inspection.hosts[edge.to].name,
                    latency_text(edge.latency), base::fixed_text(rating.latency_ratio, 2),
                    bandwidth_text(edge.bandwidth), base::fixed_text(rating.bandwidth_ratio, 2),
                    rating.is_slow() ? "<- slow" : ""});
  }
  return align(rows, kNumberColumn);
}

Json limit(std::uint64_t bytes) { return bytes == UINT64_MAX ? Json(nullptr) : Json(bytes); }

Json known(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json host_object(std::size_t rank, const Host& host) {
  const HostFacts& facts = host.facts;
  const auto& shared = facts.shared_memory_bytes;
  return {{"host", host.name},
          {"rank", rank},
          {"address", known(host.address)},
          {"version", facts.version},
          {"architecture", facts.architecture},
          {"kernels", facts.kernels},
          {"transports", transport_names()},
          {"devices", facts.device_count},
          {"slots", facts.slot_count},
          {"cpus", facts.cpus},
          {"program",
           {{"path", facts.program},
            {"bytes", facts.program_sha256.empty() ? Json(nullptr) : Json(facts.program_bytes)},
            {"sha256", known(facts.program_sha256)},
            {"trouble", known(facts.program_trouble)}}},
          {"clock_ahead_s", host.clock_ahead},
          {"memory_bytes", facts.memory_bytes},
          {"locked_memory_bytes", limit(facts.locked_memory_bytes)},
          {"dev_shm_free_bytes", shared ? Json(*shared) : Json(nullptr)},
          {"limits",
           {{"address_bytes", limit(facts.address_limit)},
            {"file_bytes", limit(facts.file_size_limit)},
            {"processes", limit(facts.process_limit)}}},
          {"open_files",
           {{"soft", limit(facts.open_files.soft)}, {"hard", limit(facts.open_files.hard)}}},
          {"free_ports", facts.free_port_count}};
}

Json edge_object(const Inspection& inspection, const Edge& edge, const EdgeRating& rating) {
  return {{"from", edge.from},
          {"to", edge.to},
          {"from_host", inspection.hosts[edge.from].name},
          {"to_host", inspection.hosts[edge.to].name},
          {"latency_us", edge.latency * 1e6},
          {"latency_ratio", rating.latency_ratio},
          {"bandwidth_bits_per_s", edge.bandwidth * 8},
          {"bandwidth_ratio", rating.bandwidth_ratio},
          {"slow", rating.is_slow()}};
}

// Replaces invalid UTF-8: names of hosts are bytes that others chose.
std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string lines_of(const std::vector<Json>& objects) {
  std::string text;
  for (const Json& object : objects) text += (text.empty() ? "\n  " : ",\n  ") + dump(object);
  return text;
}

}  // namespace

std::string to_text(const Inspection& inspection, const Judgement& judgement) {
  std::string text = checks_text(judgement) + "\n";
  if (!inspection.edges.empty()) text += edges_text(inspection, judgement) + "\n";
  return text + launcher::to_line(judgement.verdict, judgement.reason);
}

std::string to_json(const Inspection& inspection, const Judgement& judgement) {
  std::vector<Json> checks;
  for (const Finding& finding : judgement.findings) {
    checks.push_back({{"check", finding.check},
                      {"verdict", to_string(finding.verdict)},
                      {"found", finding.found},
                      {"advice", known(finding.advice)}});
  }
  std::vector<Json> hosts;
  for (std::size_t rank = 0; rank < inspection.hosts.size(); ++rank) {
    hosts.push_back(host_object(rank, inspection.hosts[rank]));
  }
  std::vector<Json> edges;
  for (std::size_t i = 0; i < inspection.edges.size(); ++i) {
    edges.push_back(edge_object(inspection, inspection.edges[i], judgement.edges[i]));
  }
  return "{\"verdict\":" + dump(to_string(judgement.verdict)) +
         ",\"code\":" + dump(static_cast<int>(judgement.verdict)) +
         ",\"reason\":" + dump(known(judgement.reason)) + ",\"checks\":[" + lines_of(checks) +
         "\n],\"hosts\":[" + lines_of(hosts) + "\n],\"edges\":[" + lines_of(edges) + "\n]}\n";
}

}  // namespace rota::preflight
