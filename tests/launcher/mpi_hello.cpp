// This is a hello program for Open MPI. It loads the library at run time, like a plug-in: it needs
// no headers, and its ELF file does not show the dependency. It prints "RANK of SIZE".
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

template <class Function>
static Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

int main(int argc, char** argv) {
  void* library = ::dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 3;
  }
  void* world = ::dlsym(library, "ompi_mpi_comm_world");
  int rank = -1;
  int size = -1;
  find<int (*)(int*, char***)>(library, "MPI_Init")(&argc, &argv);
  find<int (*)(void*, int*)>(library, "MPI_Comm_rank")(world, &rank);
  find<int (*)(void*, int*)>(library, "MPI_Comm_size")(world, &size);
  std::printf("%d of %d\n", rank, size);
  std::fflush(stdout);
  std::_Exit(find<int (*)()>(library, "MPI_Finalize")());  // Skips the check for Open MPI's leaks.
}
