// What nccl.h takes from CUDA's header of this name, so that it can be read without CUDA.
#pragma once
#include <stddef.h>

using cudaStream_t = struct CUstream_st*;  // NOLINT: CUDA's names.
#define __CUDA_BF16_TYPES_EXIST__ 1        // NOLINT: an older nccl.h asks for it.
