// `rota-bench kernel`: how fast the arithmetic is in one thread.
#pragma once

namespace rota::bench {

// Prints three tables: each kernel's throughput beside that of memcpy, for buffers that fit into a
// second-level cache and for buffers that fit into none, and the models' matrix products. Returns
// 0.
int run_kernel_benchmark();

}  // namespace rota::bench
