// Reads the dynamic section of an ELF file. The numbers in the file may be wrong, so each is
// checked against the file.
#include "launcher/ranks/elf_needs.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>

#include "cluster/host_names.h"

namespace rota::launcher {
namespace {

struct Bits32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Entry = Elf32_Dyn;
};

struct Bits64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Entry = Elf64_Dyn;
};

constexpr std::size_t kMostEntries = 4096;  // Of a table; a dynamic section has about thirty.
constexpr std::size_t kLongestText = 4096;

class File {
 public:
  explicit File(const std::string& path) : file_(path, std::ios::binary) {}

  // Returns whether the file has all these bytes.
  bool read(std::uint64_t offset, std::span<char> out) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(out.data(), static_cast<std::streamsize>(out.size()));
    return static_cast<bool>(file_);
  }

  template <class Value>
  std::optional<Value> read_value(std::uint64_t offset) {
    std::array<char, sizeof(Value)> bytes{};
    if (!read(offset, bytes)) return std::nullopt;
    return std::bit_cast<Value>(bytes);
  }

  // Reads up to `count` values, and ends before the first value for which `is_last` is true, or at
  // the end of the file.
  template <class Value, class IsLast>
  std::vector<Value> read_table(std::uint64_t offset, std::uint64_t count, IsLast is_last) {
    std::vector<Value> table;
    for (std::uint64_t i = 0; i < count && i < kMostEntries; ++i) {
      const auto value = read_value<Value>(offset + i * sizeof(Value));
      if (!value || is_last(*value)) break;
      table.push_back(*value);
    }
    return table;
  }

  std::string read_text(std::uint64_t offset) {
    std::string text;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    for (char c = 0; text.size() < kLongestText && file_.get(c) && c != '\0';) text.push_back(c);
    return text;
  }

 private:
  std::ifstream file_;
};

// Returns $ORIGIN: the folder of the file itself, and not the folder of a link to it.
std::string origin_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return (error ? std::filesystem::path(path) : file).parent_path().string();
}

std::string with_origin(std::string folder, const std::string& origin) {
  for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"}) {
    for (std::size_t at = 0; (at = folder.find(name, at)) != std::string::npos;) {
      folder.replace(at, name.size(), origin);
      at += origin.size();
    }
  }
  return folder;
}

void add_folders(const std::string& list, const std::string& path, ElfNeeds& needs) {
  const std::string origin = origin_of(path);
  for (const std::string_view folder : cluster::split(list, ':')) {
    if (!folder.empty()) needs.folders.push_back(with_origin(std::string(folder), origin));
  }
}

// Returns the offset in the file of the bytes that are loaded at `address`.
template <class Segment>
std::optional<std::uint64_t> offset_of(std::uint64_t address,
                                       const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const std::uint64_t within = address - segment.p_vaddr;
    if (within < segment.p_filesz) return segment.p_offset + within;
  }
  return std::nullopt;
}

template <class Bits>
std::optional<ElfNeeds> read_needs(File& file, const std::string& path) {
  using Segment = typename Bits::Segment;
  using Entry = typename Bits::Entry;
  const auto header = file.read_value<typename Bits::Header>(0);
  if (!header || header->e_phentsize != sizeof(Segment)) return std::nullopt;
  const auto segments = file.read_table<Segment>(header->e_phoff, header->e_phnum,
                                                 [](const Segment&) { return false; });
  std::vector<Entry> entries;
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    entries = file.read_table<Entry>(segment.p_offset, segment.p_filesz / sizeof(Entry),
                                     [](const Entry& entry) { return entry.d_tag == DT_NULL; });
  }
  std::optional<std::uint64_t> texts;
  for (const Entry& entry : entries) {
    if (entry.d_tag == DT_STRTAB) texts = offset_of<Segment>(entry.d_un.d_ptr, segments);
  }
  ElfNeeds needs;
  for (const Entry& entry : entries) {
    if (!texts) break;
    const std::uint64_t offset = *texts + entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) needs.libraries.push_back(file.read_text(offset));
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
      add_folders(file.read_text(offset), path, needs);
    }
  }
  return needs;
}

}  // namespace

std::optional<ElfNeeds> read_elf_needs(const std::string& path) {
  constexpr char kNative = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  File file(path);
  std::array<char, EI_NIDENT> identity{};
  if (!file.read(0, identity)) return std::nullopt;
  if (!std::string_view(identity.data(), identity.size()).starts_with(ELFMAG)) return std::nullopt;
  if (identity[EI_DATA] != kNative) return std::nullopt;
  if (identity[EI_CLASS] == ELFCLASS64) return read_needs<Bits64>(file, path);
  if (identity[EI_CLASS] == ELFCLASS32) return read_needs<Bits32>(file, path);
  return std::nullopt;
}

}  // namespace rota::launcher
