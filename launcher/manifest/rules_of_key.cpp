// Has the rules about the key that the hosts share: the key must exist, and rotarun must trust its
// key file.
#include <algorithm>
#include <array>
#include <map>

#include "launcher/manifest/contract.h"
#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kUsualMode = 0644;   // Default mode of a Secret's files.
constexpr std::size_t kForbidden = 0026;   // Others may read or write, or the group may write.
constexpr std::size_t kOwnersRead = 0440;  // Owner or group may read; fsGroup is that group.

// Returns the path at which rotarun looks for the key.
std::string key_path(const Workload& workload) {
  if (const auto flag = flag_value(workload.words(), "key-file")) return *flag;
  const auto variables = workload.variables();
  const Variable* variable = find_variable(variables, "ROTA_KEY_FILE");
  if (variable != nullptr && !variable->value.empty()) return variable->value;
  return std::string(kKeyFolder) + "/" + kKeyItem;
}

bool has_several_hosts(const Workload& workload) {
  if (workload.pod_spec().empty() || has_flag(workload.words(), "this-host")) return false;
  return workload.kind == "Pod" ? workload.names_its_hosts() : workload.host_count.value_or(1) > 1;
}

bool needs_key(const Workload& workload) {
  const auto words = workload.words();
  const bool does_without = has_flag(words, "key-fd") || has_flag(words, "insecure");
  return has_several_hosts(workload) && !does_without;
}

// The volume that holds the key, and the name of the key's file in the volume.
struct Place {
  const Tree* volume = nullptr;
  std::string file;
};

Place find_place(const Workload& workload) {
  const std::string path = key_path(workload);
  std::map<std::string_view, const Tree*> volumes;
  for (const Tree& volume : list_at(workload.pod_spec(), "volumes")) {
    volumes.emplace(view_at(volume, "name"), &volume);
  }
  for (const Tree& mount : list_at(workload.main_container(), "volumeMounts")) {
    std::string folder = text_at(mount, "mountPath");
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    std::string file = text_at(mount, "subPath");
    if (path != folder) {
      if (folder.empty() || !path.starts_with(folder + "/")) continue;
      file = path.substr(folder.size() + 1);
    }
    const auto found = volumes.find(view_at(mount, "name"));
    if (found != volumes.end()) return {found->second, file};
  }
  return {};
}

Findings has_key(const Manifest& /*manifest*/, const Workload& workload) {
  if (has_several_hosts(workload) && has_flag(workload.words(), "insecure")) {
    return {error(workload.container_field("command") +
                  " has --insecure, which is only for hosts on loopback, but this job has several "
                  "hosts: leave it out, and mount a key at " +
                  kKeyFolder)};
  }
  if (!needs_key(workload) || find_place(workload).volume != nullptr) return {};
  return {
      error(workload.container_field("volumeMounts") + " has nothing at " + key_path(workload) +
            ", but the hosts need a key to prove that they belong together: mount a Secret at " +
            kKeyFolder + ", with 32 random bytes as its item " + kKeyItem)};
}

// The mode of the key file, and the field that sets the mode.
struct Mode {
  std::string field;
  std::size_t mode = kUsualMode;
};

Mode mode_of(const Place& place) {
  const auto usual = count_at(*place.volume, "secret.defaultMode");
  Mode mode{"secret.defaultMode is 0644 by default"};
  if (usual) mode = {"secret.defaultMode is too wide", *usual};
  const Tree& items = list_at(*place.volume, "secret.items");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto own = count_at(items[i], "mode");
    if (!own || text_at(items[i], "path") != place.file) continue;
    mode = {"secret.items[" + std::to_string(i) + "].mode is too wide", *own};
  }
  return mode;
}

Findings is_key_trusted(const Manifest& /*manifest*/, const Workload& workload) {
  const Place place = needs_key(workload) ? find_place(workload) : Place();
  if (place.volume == nullptr || find(*place.volume, "secret") == nullptr) return {};
  const auto [field, mode] = mode_of(place);
  if ((mode & kForbidden) != 0) {
    return {error(workload.pod_field("volumes") + ": " + field +
                  ", so other users may read the key, and rotarun refuses it: make the mode 0400, "
                  "and give the pod an fsGroup")};
  }
  const Tree* user = find(workload.main_container(), "securityContext.runAsUser");
  if (user == nullptr) user = find(workload.pod_spec(), "securityContext.runAsUser");
  const bool is_root = user != nullptr && *user == 0;
  const bool has_group = find(workload.pod_spec(), "securityContext.fsGroup") != nullptr;
  if (is_root || has_group || (mode & kOwnersRead) == 0) return {};
  return {error(workload.pod_field("securityContext.fsGroup") +
                " is missing, so only root can read the key, and the pod's user cannot: set it to "
                "the user's number")};
}

// Returns the number of bytes that the base64 text encodes; line breaks do not count.
std::size_t decoded_bytes(const std::string& text) {
  const auto digits = std::ranges::count_if(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
  return static_cast<std::size_t>(digits) * 3 / 4;
}

std::string item_of(const Place& place) {
  for (const Tree& item : list_at(*place.volume, "secret.items")) {
    if (text_at(item, "path") == place.file) return text_at(item, "key");
  }
  return place.file;
}

Findings is_key_there(const Manifest& manifest, const Workload& workload) {
  const Place place = needs_key(workload) ? find_place(workload) : Place();
  const std::string name =
      place.volume == nullptr ? "" : text_at(*place.volume, "secret.secretName");
  if (name.empty()) return {};
  const Tree* secret = manifest.named("Secret", workload.name_space, name);
  if (secret == nullptr) {
    return {hint(workload.pod_field("volumes") + " has the Secret " + name +
                 ", which is in none of these files: it must exist before the pods")};
  }
  const std::string item = item_of(place);
  const Tree& data = map_at(*secret, "data");
  const Tree& texts = map_at(*secret, "stringData");
  std::size_t bytes = 0;
  if (data.contains(item) && data[item].is_string()) {
    bytes = decoded_bytes(data[item].get<std::string>());
  } else if (texts.contains(item) && texts[item].is_string()) {
    bytes = texts[item].get<std::string>().size();
  } else {
    return {error(name_of(*secret) + ": data." + item +
                  " is missing, but the pods read their key from it: add it")};
  }
  if (bytes >= kKeyBytes) return {};
  return {error(name_of(*secret) + ": data." + item + " has " + std::to_string(bytes) +
                " bytes, but a key has 32 or more: set it to 32 random bytes")};
}

constexpr std::array kKeyRules = {
    Rule{"a key, mounted where rotarun looks", has_key},
    Rule{"the key's mode, and fsGroup", is_key_trusted},
    Rule{"the Secret's item of 32 bytes or more", is_key_there},
};

}  // namespace

std::span<const Rule> rules_of_key() { return kKeyRules; }

}  // namespace rota::manifest
