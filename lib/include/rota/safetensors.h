// Files of tensors that other frameworks read and write: safetensors. Such a file has names,
// shapes and numbers. It has no code, so a file from a stranger can only be wrong, not run.
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rota/export.h>
#include <rota/values.h>

namespace rota {

struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;  // Empty for a single number.
  ConstValues values;              // Row-major, as many as the shape says. Does not own them.
  // The type as the format names it: "F32", "BOOL", … SafetensorsFile sets it, and
  // write_safetensors() ignores it.
  std::string type_name = {};
};

using TensorMetadata = std::map<std::string, std::string>;

// Writes a file with these tensors, and returns when the disk has it. A reader of `path` sees a
// whole file at any time: the old one, if there was one, or the new one. `tensors` are borrowed for
// the call. Their order does not matter: the same tensors give the same bytes. The format has no
// type for std::byte, so bytes are written as std::uint8_t. Throws Error kInvalidArgument if a
// shape does not fit its values, if a name occurs twice, is "__metadata__" or is not UTF-8, or if
// values are bytes; kCannotWrite; kSystem. After an error, what was at `path` is unchanged, unless
// only the last sync of the folder has failed.
ROTA_EXPORT void write_safetensors(const std::filesystem::path& path,
                                   std::span<const NamedTensor> tensors,
                                   const TensorMetadata& metadata = {});

// The tensors of a file, read in place: the file is mapped into memory and not copied. The file
// must not be changed or shortened while it is open; to replace it, rename another file to its
// name. Threads may share a const SafetensorsFile. Move-only.
class ROTA_EXPORT SafetensorsFile {
 public:
  // Opens the file at `path`, or the file to which links lead from there, and checks its header.
  // Reads nothing else, with one exception: a tensor that the file does not align to its elements
  // is copied. A file is refused if the format's reference library refuses it. Beyond that, a file
  // is refused if a name occurs twice, or if its header does not begin with '{', is nested deeper
  // than 8 levels, or has a null or a list in place of an object. Throws Error kNotFound if there
  // is no such file; kBadData if it is damaged, or is a folder, a pipe or a device;
  // UnreadableFile; kNoMemory. Never waits.
  explicit SafetensorsFile(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;
  ~SafetensorsFile();

  // Returns the path that the constructor got.
  const std::filesystem::path& path() const noexcept;

  const TensorMetadata& metadata() const noexcept;

  // Returns all tensors, in the order of their places in the file. Their values live as long as
  // this object. The values of a type that rota does not have, such as BOOL, are bytes: a DataType
  // of kByte, and a count of bytes.
  std::span<const NamedTensor> tensors() const noexcept;

  // Returns the tensor with this name, or null.
  const NamedTensor* find(std::string_view name) const noexcept;

  // Returns the tensor with this name. Throws Error kInvalidArgument if there is none; the text
  // names the most similar name.
  const NamedTensor& tensor(std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rota
