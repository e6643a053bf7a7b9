// nccl.h includes CUDA's header of this name, and takes nothing from it.
#pragma once
