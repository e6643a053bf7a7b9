// Says where functions run. nvcc compiles this folder as CUDA, for GPUs. Any other compiler
// compiles the same files as plain C++, and then launch.h runs each kernel on the host, for the
// tests.
#pragma once

#if defined(__CUDACC__)
#define ROTA_TARGET __host__ __device__
#else
#define ROTA_TARGET
#endif

#if defined(__CUDA_ARCH__)  // Defined while the code of the device is compiled, not the host's.
#define ROTA_UNROLL _Pragma("unroll")
#else
#define ROTA_UNROLL
#endif
