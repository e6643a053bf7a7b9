// What the manifests and rotarun have agreed upon: paths, ports and names that both know.
#pragma once

namespace rota::manifest {

inline constexpr int kStatusPort = 8080;
inline constexpr int kUser = 10001;  // Of the images.
inline constexpr const char* kKeyFolder = "/etc/rota";
inline constexpr const char* kKeyItem = "key";
inline constexpr const char* kDataFolder = "/data";
inline constexpr const char* kNameLabel = "app.kubernetes.io/name";
inline constexpr const char* kParametersNote = "rota/parameters";  // An annotation.

}  // namespace rota::manifest
