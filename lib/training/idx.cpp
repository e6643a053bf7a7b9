// Reads IDX files: two zero bytes, the element type, the number of dimensions, the dimensions, the
// elements.
#include <rota/idx.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <rota/error.h>

#include "os/system_error.h"
#include "training/data_file.h"

namespace rota {
namespace {

using training::DataFile;

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kImageDimensions = 3;  // Count, rows, columns.

[[noreturn]] void refuse(const DataFile& file, const std::string& why) {
  throw Error(ErrorCode::kBadData, file.name() + ": " + why);
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text = "0x";
  for (const std::uint8_t byte : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(byte));
    text += digits.data();
  }
  return text;
}

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) noexcept {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

// The contents of the header. They may be wrong, so memory must not be allocated from them alone.
struct Header {
  std::vector<std::size_t> dimensions;
  std::size_t element_count = 0;
  std::string text() const {  // "60000 x 28 x 28"
    std::string joined;
    for (const std::size_t dimension : dimensions) {
      joined += (joined.empty() ? "" : " x ") + std::to_string(dimension);
    }
    return joined;
  }
};

void check_magic(const DataFile& file, std::span<const std::uint8_t> magic,
                 std::size_t dimension_count) {
  const std::array<std::uint8_t, kMagicBytes> expected = {
      0, 0, kUnsignedByte, static_cast<std::uint8_t>(dimension_count)};
  const std::string found_expected =
      "its magic number is " + hex(magic) + ", expected " + hex(expected);
  if (magic[0] != 0 || magic[1] != 0) refuse(file, "is not an IDX file: " + found_expected);
  if (magic[2] != kUnsignedByte) {
    refuse(file, "has elements of type " + hex(magic.subspan(2, 1)) +
                     ", expected unsigned bytes (" + found_expected + ")");
  }
  if (magic[3] != dimension_count) {
    refuse(file, "has " + std::to_string(magic[3]) + " dimensions, expected " +
                     std::to_string(dimension_count) +
                     (dimension_count == 1 ? " as a file of labels has ("
                                           : " as a file of images has (") +
                     found_expected + ")");
  }
}

Header read_header(DataFile& file, std::size_t dimension_count) {
  std::array<std::uint8_t, kMagicBytes + 3 * 4> bytes{};
  const std::size_t header_bytes = kMagicBytes + dimension_count * 4;
  const std::size_t read = file.read(std::span(bytes).first(header_bytes));
  if (read >= kMagicBytes) {
    check_magic(file, std::span(bytes).first(kMagicBytes), dimension_count);
  }
  if (read < header_bytes) {
    refuse(file, "ends after " + std::to_string(read) + " bytes, within its header of " +
                     std::to_string(header_bytes));
  }
  Header header;
  for (std::size_t i = 0; i < dimension_count; ++i) {
    header.dimensions.push_back(big_endian(std::span(bytes).subspan(kMagicBytes + 4 * i, 4)));
  }
  if (header.dimensions.front() == 0) refuse(file, "holds no samples");
  header.element_count = 1;
  for (const std::size_t dimension : header.dimensions) {
    if (dimension == 0) refuse(file, "holds empty images: its header says " + header.text());
    if (__builtin_mul_overflow(header.element_count, dimension, &header.element_count)) {
      refuse(file, "its header says " + header.text() + ", more than can be counted");
    }
  }
  return header;
}

constexpr std::size_t kPiece = std::size_t{64} << 10;

// The size of the file limits the reserved memory, even if the header claims more elements.
// Reserved memory that is not written takes no physical memory, so a wrong header costs none.
std::vector<std::uint8_t> reserve_elements(const DataFile& file, const Header& header) {
  std::vector<std::uint8_t> elements;
  try {
    elements.reserve(std::min(header.element_count, file.most_contents() + kPiece));
  } catch (const std::exception&) {
    throw Error(ErrorCode::kNoMemory, file.name() + ": no memory for its " +
                                          std::to_string(header.element_count) + " bytes" +
                                          os::advice_on_memory());
  }
  return elements;
}

// Reads all elements, and then to the end of the file, so that a checksum is checked too.
std::vector<std::uint8_t> read_elements(DataFile& file, const Header& header) {
  std::vector<std::uint8_t> elements = reserve_elements(file, header);
  while (elements.size() < header.element_count) {
    const std::size_t before = elements.size();
    const std::size_t wanted = std::min(kPiece, header.element_count - before);
    elements.resize(before + wanted);
    const std::size_t read = file.read(std::span(elements).subspan(before));
    if (read == wanted) continue;
    refuse(file, "ends after " + std::to_string(before + read) + " of the " +
                     std::to_string(header.element_count) + " bytes that its header announces (" +
                     header.text() + ")");
  }
  std::uint8_t more = 0;
  if (file.read({&more, 1}) > 0) {
    refuse(file, "goes on after the " + std::to_string(header.element_count) +
                     " bytes that its header announces (" + header.text() + ")");
  }
  return elements;
}

// Returns a data set without labels and classes.
Dataset read_pixels(DataFile& file, const Header& header) {
  Dataset data;
  data.shape = {header.dimensions[1], header.dimensions[2], 1};
  data.pixels = read_elements(file, header);
  return data;
}

void check_labels(const DataFile& file, const Dataset& data, bool classes_given) {
  const auto wrong = std::find_if(data.labels.begin(), data.labels.end(),
                                  [&](std::uint8_t label) { return label >= data.classes; });
  if (!classes_given || wrong == data.labels.end()) return;
  refuse(file, "sample " + std::to_string(wrong - data.labels.begin()) + " has label " +
                   std::to_string(*wrong) + ", expected less than " + std::to_string(data.classes) +
                   ", the number of classes");
}

// Finds the file SET-KIND or SET.KIND, such as "train-images" and "idx3-ubyte", with or without
// ".gz". Programs that unpack the files have written both spellings.
std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& set,
                                const std::string& kind) {
  const std::string stem = set + "-" + kind;
  const std::string other = set + "." + kind;
  for (const std::string& name : {stem, stem + ".gz", other, other + ".gz"}) {
    std::error_code ignored;
    std::filesystem::path path = folder / name;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  throw Error(ErrorCode::kNotFound, "neither " + stem + " nor " + other +
                                        ", with or without .gz, is in " + folder.string() +
                                        ": say where the data is");
}

}  // namespace

Dataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                 std::optional<std::size_t> classes) {
  DataFile image_file(images);
  DataFile label_file(labels);
  const Header image_header = read_header(image_file, kImageDimensions);
  const Header label_header = read_header(label_file, 1);
  if (image_header.dimensions[0] != label_header.dimensions[0]) {
    refuse(label_file, "holds " + std::to_string(label_header.dimensions[0]) + " labels, but " +
                           image_file.name() + " holds " +
                           std::to_string(image_header.dimensions[0]) + " images");
  }
  Dataset data = read_pixels(image_file, image_header);
  data.labels = read_elements(label_file, label_header);
  const std::size_t largest = *std::max_element(data.labels.begin(), data.labels.end());
  data.classes = classes.value_or(largest + 1);
  check_labels(label_file, data, classes.has_value());
  return data;
}

Dataset read_idx_images(const std::filesystem::path& images, std::size_t classes) {
  DataFile file(images);
  const Header header = read_header(file, kImageDimensions);
  Dataset data = read_pixels(file, header);
  data.classes = classes;
  data.labels.resize(header.dimensions[0]);
  return data;
}

TrainAndTest read_idx_folder(const std::filesystem::path& folder,
                             std::optional<std::size_t> classes) {
  const auto train_images = find_file(folder, "train-images", "idx3-ubyte");
  const auto train_labels = find_file(folder, "train-labels", "idx1-ubyte");
  const auto test_images = find_file(folder, "t10k-images", "idx3-ubyte");
  const auto test_labels = find_file(folder, "t10k-labels", "idx1-ubyte");
  TrainAndTest data;
  data.train = read_idx(train_images, train_labels, classes);
  data.test = read_idx(test_images, test_labels, data.train.classes);
  const ImageShape& train = data.train.shape;
  const ImageShape& test = data.test.shape;
  if (train.rows != test.rows || train.columns != test.columns) {
    const auto text = [](const ImageShape& shape) {
      return std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
    };
    throw Error(ErrorCode::kBadData, test_images.string() + ": holds images of " + text(test) +
                                         ", but " + train_images.string() + " holds " +
                                         text(train));
  }
  return data;
}

}  // namespace rota
