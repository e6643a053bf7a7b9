// What the fake cuBLAS was told, and what it is to answer.
#pragma once
#include <cstddef>

struct FakeCublas {
  int create_status = 0;
  int multiply_status = 0;
  int handles = 0;  // Made and not destroyed.
  int math_mode = -1;
  void* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

extern "C" FakeCublas* fake_cublas_notes();
