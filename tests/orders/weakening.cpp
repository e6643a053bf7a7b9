// addr2line tells the line of an operation from the address of the instruction after it.
#include "orders/weakening.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "testing/paths.h"

// The linker's name for the address at which the program is loaded.
extern "C" const char __executable_start;  // NOLINT

namespace rota::orders {
namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string output;
  std::array<char, 4096> part{};
  while (pipe) {
    const std::size_t bytes = std::fread(part.data(), 1, part.size(), pipe.get());
    if (bytes == 0) break;
    output.append(part.data(), bytes);
  }
  return output;
}

// Returns "lib/a/b.h:17" for ".../lib/a/b.h:17 (discriminator 2)"; empty for lines outside of lib/
// and tests/orders/.
std::string line_in_project(const std::string& line) {
  for (const char* const folder : {"lib/", "tests/orders/"}) {
    const std::size_t at = line.rfind(folder);
    const bool is_ours = at == 0 || (at != std::string::npos && line.starts_with("../"));
    if (is_ours || line.find(std::string("/") + folder) == at - 1) {
      return line.substr(at, line.find(' ', at) - at);
    }
  }
  return {};
}

// Returns the line of each operation. An operation may be inlined into several functions: then the
// line is the innermost one that belongs to the project.
std::map<const void*, std::string> lines_of(const std::set<const void*>& callers) {
  std::ostringstream command;
  command << "addr2line -a -i -e /proc/" << ::getpid() << "/exe" << std::hex;
  std::map<std::uintptr_t, const void*> by_offset;
  for (const void* const caller : callers) {
    const auto offset = reinterpret_cast<std::uintptr_t>(caller) -
                        reinterpret_cast<std::uintptr_t>(&__executable_start) - 1;
    by_offset[offset] = caller;
    command << " 0x" << offset;
  }
  std::map<const void*, std::string> lines;
  if (callers.empty()) return lines;
  std::istringstream output(output_of(command.str()));
  std::string* line = nullptr;
  for (std::string text; std::getline(output, text);) {
    if (text.starts_with("0x")) {
      line = &lines[by_offset[std::stoull(text, nullptr, 16)]];
    } else if (line && line->empty()) {
      *line = line_in_project(text);
    }
  }
  return lines;
}

std::string to_text(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

std::string to_text(Kind kind) {
  constexpr const char* kNames[] = {"start", "load", "store", "read-modify-write", "fence", "end"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Returns the orders that are weaker by one step.
std::vector<std::memory_order> weaker(Kind kind, std::memory_order order) {
  switch (order) {
    case std::memory_order_seq_cst:
      if (kind == Kind::kLoad) return {std::memory_order_acquire};
      if (kind == Kind::kStore) return {std::memory_order_release};
      return {std::memory_order_acq_rel};
    case std::memory_order_acq_rel:
      return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_relaxed:
      return {};
    default:
      return {std::memory_order_relaxed};
  }
}

// Returns the lines that name an order other than relaxed, and their texts.
std::map<std::string, std::string> lines_with_an_order(const std::vector<std::string>& files) {
  std::map<std::string, std::string> lines;
  for (const std::string& file : files) {
    std::ifstream source(testing::source_path(file));
    EXPECT_TRUE(source) << file;
    int number = 0;
    for (std::string text; std::getline(source, text);) {
      ++number;
      const std::size_t order = text.find("std::memory_order_");
      if (order == std::string::npos || text.find("std::memory_order_relaxed") == order) continue;
      lines.emplace(file + ":" + std::to_string(number), text);
    }
  }
  return lines;
}

// The operations of one line, of one kind and with one order.
struct Line {
  std::set<const void*> callers;
  std::set<const Program*> programs;  // Which make them.
};
using Lines = std::map<std::tuple<std::string, Kind, std::memory_order>, Line>;

bool is_noticed(const Line& line, std::memory_order order) {
  for (const Program* const program : line.programs) {
    Options options{.memory = program->memory};
    for (const void* const caller : line.callers) options.weakened[caller] = order;
    if (explore(options, program->body).fault) return true;
  }
  return false;
}

}  // namespace

std::string story_of(const Report& report) {
  std::set<const void*> callers;
  for (const Event& event : report.events) callers.insert(event.caller);
  callers.erase(nullptr);
  auto lines = lines_of(callers);
  std::ostringstream story;
  story << report.fault.value_or("no fault") << " after " << report.run_count << " runs\n";
  for (const Event& event : report.events) {
    if (event.index == 0) continue;
    story << "thread " << int{event.thread} << ": " << to_text(event.kind);
    if (event.reads() || event.stores()) story << " at " << std::hex << event.place << std::dec;
    if (event.reads()) story << " reads " << event.read;
    if (event.stores()) story << " stores " << event.stored;
    if (event.caller) story << " (" << to_text(event.order) << ", " << lines[event.caller] << ")";
    story << "\n";
  }
  return story.str();
}

void expect_needed_orders(const std::vector<std::string>& files,
                          const std::vector<Program>& programs) {
  std::map<Site, std::set<const Program*>> sites;
  std::set<const void*> callers;
  for (const Program& program : programs) {
    const Report report = explore({.memory = program.memory}, program.body);
    ASSERT_FALSE(report.fault) << program.name << ": " << story_of(report);
    EXPECT_GT(report.complete_count, 0U) << program.name;
    EXPECT_FALSE(report.buffers_loads) << program.name << ": a load may read a later store";
    for (const Site& site : report.sites) {
      sites[site].insert(&program);
      callers.insert(site.caller);
    }
    std::printf("%s: %llu runs\n", program.name.c_str(),
                static_cast<unsigned long long>(report.run_count));
  }
  const std::map<std::string, std::string> named = lines_with_an_order(files);
  std::map<std::string, std::string> left = named;
  const auto lines = lines_of(callers);
  Lines all;
  for (const auto& [site, its_programs] : sites) {
    const std::string& line = lines.at(site.caller);
    const auto found = named.find(line);
    // A function's destructors may share its last line. Their orders are not those of the text.
    if (found == named.end() ||
        found->second.find("order_" + to_text(site.order)) == std::string::npos)
      continue;
    left.erase(line);
    Line& operations = all[{line, site.kind, site.order}];
    operations.callers.insert(site.caller);
    operations.programs.insert(its_programs.begin(), its_programs.end());
  }
  for (const auto& [line, text] : left)
    ADD_FAILURE() << line << ": no program makes this operation";
  for (const auto& [key, operations] : all) {
    const auto& [line, kind, order] = key;
    for (const std::memory_order weak : weaker(kind, order)) {
      EXPECT_TRUE(is_noticed(operations, weak))
          << line << ": the " << to_text(kind) << " works with " << to_text(weak)
          << ", too: " << to_text(order) << " is stronger than needed";
    }
  }
}

}  // namespace rota::orders
