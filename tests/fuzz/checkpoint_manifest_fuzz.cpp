// Fuzzes manifests of checkpoints, which anyone may have changed. The input is a manifest without
// its sum: the sum would refuse nearly every input before it is parsed.
#include "checkpoint/manifest.h"
#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  const std::string body(fuzz::text_of(data, count));
  for (const std::string& text : {body, checkpoint::seal(body)}) {
    try {
      const checkpoint::Manifest manifest = checkpoint::parse_manifest("file", text);
      fuzz::require(manifest.start > 0 && manifest.world_size > 0, "counts begin at 1");
      for (const auto& file : manifest.files) {
        fuzz::require(file.name.find('/') == std::string::npos, "a file is in the folder");
        fuzz::require(file.sums.size() == (file.bytes - 1) / checkpoint::kSumBytes + 1,
                      "each MiB has a sum");
      }
      fuzz::require(checkpoint::parse_manifest("file", encode(manifest)) == manifest,
                    "what was read lasts");
    } catch (const Error& error) {
      fuzz::require(error.code() == ErrorCode::kBadData, "a refusal is bad data");
      for (const char c : std::string_view(error.what())) {
        fuzz::require(c != '\n' && c != '\0', "a refusal is one line");
      }
    }
  }
  return 0;
}
