// What says that somebody has started this process as one of several, though nothing says where the
// others are: a program that then went on alone would train beside them, and nobody would notice.
#pragma once
#include <string>

#include "cluster/environment.h"

namespace rota::cluster {

// Such as "WORLD_SIZE is 4"; empty where nothing says so. Of Slurm's variables those of a step
// count: a shell or a batch script in an allocation is no rank. Throws Error kInvalidArgument where
// a number is none.
std::string sign_of_several(const Environment& environment);

}  // namespace rota::cluster
