// Has what is done to one element. It is the source of the CPU's "scalar" kernels, compiled for
// GPUs as well: so a GPU gives the bits of "scalar".
#pragma once
#include "kernels/cuda/target.h"

#include "kernels/one_lane.h"

#include "kernels/coding_steps.h"
#include "kernels/lanes.h"
#include "kernels/operations.h"
#include "kernels/update_steps.h"
