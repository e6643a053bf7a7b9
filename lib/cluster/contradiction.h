// Finds contradictions between sources, and between a source and the ROTA_* declarations. Without
// this check, a host would believe one of two sources that cannot both be true.
#pragma once
#include <string>

#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// Returns how two specifications contradict each other, with both sides; empty if both may be true.
std::string contradiction_of(const Specification& one, const Specification& other);

// Throws Error kInvalidArgument if ROTA_HOSTS, ROTA_WORLD or ROTA_SLOTS contradicts the source.
void require_as_declared(const Specification& specification, const Declared& declared);

// Adds the values that only ROTA_WORLD and ROTA_SLOTS declare.
void add_declared(const Declared& declared, Specification& specification);

}  // namespace rota::cluster
