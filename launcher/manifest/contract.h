// Has the constants that manifests and rotarun must agree on: paths, ports and names.
#pragma once

namespace rota::manifest {

inline constexpr int kStatusPort = 8080;
inline constexpr int kUser = 10001;  // User and group of the images.
inline constexpr const char* kKeyFolder = "/etc/rota";
inline constexpr const char* kKeyItem = "key";
inline constexpr const char* kDataFolder = "/data";
inline constexpr const char* kNameLabel = "app.kubernetes.io/name";
inline constexpr const char* kParametersNote = "rota/parameters";  // Annotation.

}  // namespace rota::manifest
