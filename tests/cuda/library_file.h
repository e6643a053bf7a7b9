// Where librota_cuda.so is: in this build, or where ./dev gpu has moved it.
#pragma once
#include <cstdlib>
#include <string>

namespace rota::testing {

inline std::string cuda_library_file() {
  const char* moved = std::getenv("ROTA_CUDA_LIBRARY");
  return moved ? moved : ROTA_CUDA_FILE;
}

}  // namespace rota::testing
