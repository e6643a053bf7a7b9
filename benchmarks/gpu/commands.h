// The commands of gpu_bench, one function each. All throw std::exception, and Error kSystem if
// there is no GPU.
#pragma once

namespace rota::bench::gpu {

// Prints the GPU, the driver's CUDA and rota's as a line of JSON.
void print_facts();

// Compares kernels over large arrays with a copy that reads and writes as many bytes.
void measure_kernels();

// Measures an all-reduce of values on a GPU, as a rank of a job of two. Over tcp, compares it with
// the copies between host and GPU, and with `socket_seconds`, which a bare connection takes. Over
// shared memory, compares it with one kernel that reads and writes as many bytes.
void measure_all_reduce(double socket_seconds);

// Compares NCCL through rota with NCCL called by hand, as a rank of a job of any size. Throws
// std::exception if NCCL cannot be used.
void measure_nccl();

}  // namespace rota::bench::gpu
