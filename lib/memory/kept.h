// Keeps objects to whose memory a library may still write after a failure. If they were freed, the
// library would write into other objects of the program.
#pragma once
#include <memory>

namespace rota::memory {

// Keeps `object` until the process ends. Does nothing with null. If there is no memory to remember
// the object, ends the process.
void keep_for_ever(std::shared_ptr<const void> object) noexcept;

}  // namespace rota::memory
