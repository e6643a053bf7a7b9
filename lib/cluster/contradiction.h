// What cannot be true at once.
#pragma once
#include <string>

#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// How two specifications differ, with both sides; empty where they may both be true.
std::string contradiction_of(const Specification& one, const Specification& other);

// Throws Error kInvalidArgument where ROTA_HOSTS, ROTA_WORLD or ROTA_SLOTS say another thing.
void require_as_declared(const Specification& specification, const Declared& declared);

// Adds what only the declaration knows.
void add_declared(const Declared& declared, Specification& specification);

}  // namespace rota::cluster
