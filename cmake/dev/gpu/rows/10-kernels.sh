# The kernels, against a copy of the device.
# shellcheck shell=bash
bin/gpu_bench kernels
