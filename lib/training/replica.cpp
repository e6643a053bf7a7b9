// Compiles the replicas of rota's own models once.
#include <rota/replica.h>

namespace rota {

template class Replica<float>;
template class Replica<double>;

}  // namespace rota
