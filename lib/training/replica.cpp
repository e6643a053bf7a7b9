// The replica of the models that are here, compiled once.
#include <rota/replica.h>

namespace rota {

template class Replica<float>;
template class Replica<double>;

}  // namespace rota
