// What the tests of this program share: the one communicator that it was started with.
#pragma once
#include <rota/communicator.h>

namespace rota {

Communicator& the_communicator();

}  // namespace rota
