// Publishes trained models for servers, which load the version with the highest number.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <rota/export.h>
#include <rota/onnx.h>
#include <rota/replica.h>
#include <rota/safetensors.h>

namespace rota {

struct Published {
  std::uint64_t version = 0;
  std::filesystem::path path;  // FOLDER/VERSION.
};

// Makes FOLDER/VERSION with three files: model.onnx has the graph, model.safetensors the tensors
// without the graph, and model.json the inputs, the outputs and the metadata. Makes `folder` if it
// is missing. VERSION is the next number: 1, or one more than the highest number in the folder.
//
// The files are written to a hidden folder first. When the disk has them, the hidden folder gets
// the name VERSION. So a server never sees a part of a version. A version never replaces anything,
// not even an empty folder. This holds even if several processes publish at the same time. On a
// file system that cannot rename without replacing, such as NFS, VERSION is an empty folder for a
// moment. Throws Error kCannotWrite, and kInvalidArgument as to_bytes() does, if two tensors have
// one name, or if a tensor does not fit its shape. Then there is no new version. If the process is
// killed, a folder named ".publishing.…" may stay behind, and on such a file system an empty folder
// VERSION.
ROTA_EXPORT Published publish(const std::filesystem::path& folder, const OnnxGraph& graph,
                              std::span<const NamedTensor> tensors);

// Publishes the model of a replica, a rota::Model, between steps. Not collective: call it on one
// rank.
template <class T>
Published publish(const std::filesystem::path& folder, const Replica<T>& replica,
                  const OnnxOptions& options = {}) {
  return publish(folder, onnx_graph(replica, options), replica.tensors());
}

// Returns the newest version in `folder` whose model.json is what publish() would write for
// `graph`, or nothing if there is none. The metadata in model.json has the step and the hash of the
// weights. So a run that is started again after its end can see that it has published already.
ROTA_EXPORT std::optional<Published> find_published(const std::filesystem::path& folder,
                                                    const OnnxGraph& graph);

// One line, without a newline at its end.
ROTA_EXPORT std::string to_text(const Published& published);
ROTA_EXPORT std::string to_json(const Published& published);  // "event" is "exported".

}  // namespace rota
