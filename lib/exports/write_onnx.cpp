// Writes ONNX files.
#include <rota/onnx.h>

#include <span>
#include <string>

#include "formats/replacing_file.h"

namespace rota {

void write_onnx(const OnnxGraph& graph, const std::filesystem::path& path) {
  const std::string bytes = to_bytes(graph);
  formats::ReplacingFile file(path);
  file.append(std::as_bytes(std::span(bytes)));
  file.commit();
}

}  // namespace rota
