// What cannot be true at once.
#pragma once
#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// Throws Error kInvalidArgument where ROTA_HOSTS, ROTA_WORLD or ROTA_SLOTS say another thing.
void require_as_declared(const Specification& specification, const Declared& declared);

// Adds what only the declaration knows.
void add_declared(const Declared& declared, Specification& specification);

}  // namespace rota::cluster
