// A shared library that nobody calls. The tests give it the name of an MPI.
extern "C" void rota_empty_library() {}
