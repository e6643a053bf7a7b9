// Fuzzes manifests from other authors: the YAML parser, and the rules that check its result.
#include "fuzz/fuzz.h"
#include "launcher/manifest/rules.h"
#include "launcher/manifest/yaml.h"

namespace {

using namespace rota;

void require_one_line(const std::string& text) {
  for (const char c : text) fuzz::require(c != '\n' && c != '\0', "a sentence is one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  try {
    const auto objects = manifest::from_yaml(std::string(fuzz::text_of(data, count)));
    for (const auto& finding : manifest::check(manifest::Manifest(objects))) {
      require_one_line(finding.text);
    }
    fuzz::require(manifest::from_yaml(manifest::to_yaml(objects)).size() == objects.size(),
                  "what was read can be written");
  } catch (const manifest::YamlError& error) {
    require_one_line(error.what());
  }
  return 0;
}
