// Fuzzes the reading of all variables that can describe a job, together. The first line is the
// host's name, and each other line is a variable. The value of a variable that names a file with
// hosts is the text of the file: "|" ends a line of it, and "!" is a file that cannot be read.
#include <algorithm>

#include "cluster/host_names.h"
#include "cluster/reading.h"
#include "fuzz/fuzz.h"

namespace {

using namespace rota;

void read_as(cluster::Asker asker, const cluster::Given& all) {
  cluster::Given given = all;
  given.asker = asker;
  fuzz::may_refuse([&] {
    const cluster::Specification read = cluster::read(given).chosen;
    fuzz::require(read.hosts.size() <= cluster::kMaxRanks, "hosts have a limit");
    if (!read.hosts.empty() && read.own_host) {
      fuzz::require(*read.own_host < read.hosts.size(), "this is one of them");
    }
    if (read.rank && read.world_size) {
      fuzz::require(*read.rank < *read.world_size, "a rank is below the world's size");
    }
    fuzz::require(read.level == cluster::Level::kProcess || !read.hosts.empty(),
                  "the number of hosts is known");
    const RankTable table = cluster::make_table(read, 2);
    fuzz::require(!read.world_size || table.rows.size() == *read.world_size ||
                      read.level == cluster::Level::kProcess,
                  "the table is the declared world");
  });
  fuzz::require(!cluster::explain(given).empty(), "there is always something to say");
}

std::vector<cluster::HostFile> node_files_of(const cluster::Environment& environment) {
  std::vector<cluster::HostFile> files;
  for (const std::string_view name : cluster::kNodeFileVariables) {
    if (!environment.has(name)) continue;
    std::string text = environment.text(name);
    std::ranges::replace(text, '|', '\n');
    files.push_back(
        {.path = "file", .text = text, .given_by = std::string(name), .is_readable = text != "!"});
  }
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  std::vector<std::string> lines;
  for (const auto line : cluster::split(fuzz::text_of(data, count), '\n')) {
    lines.emplace_back(line.substr(0, line.find('\0')));
  }
  cluster::Given given{.environment = cluster::Environment(std::span(lines).subspan(1)),
                       .host_name = lines.front()};
  given.node_files = node_files_of(given.environment);
  read_as(cluster::Asker::kLauncher, given);
  read_as(cluster::Asker::kProgram, given);
  return 0;
}
