// Reads three files in /proc/PID: smaps lists the mappings, pagemap says which of their pages are
// resident, and mem has the bytes.
#include "testing/core_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "os/fd.h"
#include "testing/proc.h"

namespace rota::testing {
namespace {

std::string in_proc(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// Reads a line such as "55ab00c15000-55ab00c17000 r--p 00000000 fe:00 247278      /usr/bin/head".
std::optional<Mapping> read_head(const std::string& line) {
  Mapping mapping;
  char* rest = nullptr;
  mapping.begin = std::strtoull(line.c_str(), &rest, 16);
  if (rest == line.c_str() || *rest != '-') return std::nullopt;
  mapping.end = std::strtoull(rest + 1, &rest, 16);
  std::istringstream words(rest);
  std::string offset;
  std::string device;
  std::string inode;
  words >> mapping.permissions >> offset >> device >> inode >> std::ws;
  std::getline(words, mapping.name);
  return mapping;
}

// Reads contiguous resident pages. Other pages are not read, because reading a page makes it
// resident.
class Memory {
 public:
  explicit Memory(pid_t pid)
      : pages_(::open(in_proc(pid, "pagemap").c_str(), O_RDONLY | O_CLOEXEC)),
        bytes_(::open(in_proc(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC)) {}

  template <class F>
  void for_each_run(const Mapping& mapping, F visit) const {
    std::string run;
    for (std::uintptr_t at = mapping.begin; at < mapping.end; at += kPagesAtOnce * page_) {
      std::vector<std::uint64_t> entries(
          std::min<std::size_t>(kPagesAtOnce, (mapping.end - at) / page_));
      const ssize_t got = ::pread(pages_.get(), entries.data(), entries.size() * kEntryBytes,
                                  static_cast<off_t>(at / page_ * kEntryBytes));
      entries.resize(got > 0 ? static_cast<std::size_t>(got) / kEntryBytes : 0);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool is_there = (entries[i] & kPresentOrSwapped) != 0;
        if (is_there && append_page(at + i * page_, run) && run.size() < kMostBytes) continue;
        if (!run.empty()) visit(run);
        run.clear();
      }
    }
    if (!run.empty()) visit(run);
  }

 private:
  static constexpr std::size_t kEntryBytes = sizeof(std::uint64_t);
  static constexpr std::size_t kPagesAtOnce = 65536;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  static constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;

  bool append_page(std::uintptr_t at, std::string& run) const {
    const std::size_t before = run.size();
    run.resize(before + page_);
    const ssize_t got = ::pread(bytes_.get(), run.data() + before, page_, static_cast<off_t>(at));
    run.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    return run.size() == before + page_;
  }

  std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  os::Fd pages_;
  os::Fd bytes_;
};

std::string in_hex(const std::string& bytes, const char* digits) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

// Returns whether the bytes look like text. Fewer than one in a hundred random strings do.
bool is_text(const std::string& bytes) {
  constexpr std::ptrdiff_t kFewest = 12;
  return std::ranges::count_if(
             bytes, [](unsigned char c) { return c == 0 || std::isprint(c) != 0; }) >= kFewest;
}

bool has(const std::string& text, const std::string& trace) {
  return ::memmem(text.data(), text.size(), trace.data(), trace.size()) != nullptr;
}

}  // namespace

std::vector<Mapping> mappings_of(pid_t pid) {
  std::vector<Mapping> mappings;
  std::ifstream file(in_proc(pid, "smaps"));
  for (std::string line; std::getline(file, line);) {
    if (auto next = read_head(line)) {
      mappings.push_back(*std::move(next));
    } else if (line.starts_with("Rss:") && line.find(" 0 kB") != std::string::npos) {
      mappings.back().end = mappings.back().begin;
    } else if (line.starts_with("VmFlags:")) {
      mappings.back().is_dumped = (line + " ").find(" dd ") == std::string::npos;
    }
  }
  std::erase_if(mappings, [](const Mapping& each) { return each.begin == each.end; });
  return mappings;
}

std::set<std::string> undumped_secrets_of(pid_t pid) {
  // Larger mappings are skipped: a sanitizer's shadow memory is left out of core files too.
  constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  std::set<std::string> secrets;
  const Memory memory(pid);
  for (const Mapping& mapping : mappings_of(pid)) {
    const bool is_own = mapping.name.empty() && mapping.permissions == "rw-p";
    if (mapping.is_dumped || !is_own || mapping.end - mapping.begin > kMostBytes) continue;
    memory.for_each_run(mapping, [&](const std::string& run) {
      for (std::size_t at = 0; at < run.size(); at += kHalfKeyBytes) {
        const std::string half = run.substr(at, kHalfKeyBytes);
        if (!is_text(half)) secrets.insert(half);
      }
    });
  }
  return secrets;
}

std::vector<std::string> traces_of_half(const std::string& half) {
  return {half, in_hex(half, "0123456789abcdef"), in_hex(half, "0123456789ABCDEF")};
}

std::string exposure_of(pid_t pid, const std::vector<std::string>& traces) {
  const Memory memory(pid);
  const std::string words = proc_file(pid, "cmdline");
  const std::string program = words.substr(0, words.find('\0'));
  std::string found;
  for (const Mapping& mapping : mappings_of(pid)) {
    if (!mapping.is_dumped || mapping.permissions[0] != 'r') continue;
    memory.for_each_run(mapping, [&](const std::string& run) {
      const bool is_there =
          std::ranges::any_of(traces, [&](const std::string& trace) { return has(run, trace); });
      if (is_there) {
        found += (mapping.name.empty() ? "no file" : mapping.name) + " (" + mapping.permissions +
                 ") of " + program + "; ";
      }
    });
  }
  return found;
}

}  // namespace rota::testing
