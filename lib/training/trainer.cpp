// Compiles the trainers of rota's own models once.
#include <rota/trainer.h>

namespace rota {

template class Trainer<float>;
template class Trainer<double>;

}  // namespace rota
