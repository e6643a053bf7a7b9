// This is a program of Boost.MPI, as people have it: it adds numbers and joins texts over all
// ranks.
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/string.hpp>
#include <functional>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  const boost::mpi::environment environment(argc, argv);
  const boost::mpi::communicator world;
  const int sum = boost::mpi::all_reduce(world, world.rank() + 1, std::plus<int>());
  const std::string digits = boost::mpi::all_reduce(
      world, std::to_string(world.rank()),
      [](const std::string& left, const std::string& right) { return left + right; });
  std::cout << world.rank() << " of " << world.size() << ": sum " << sum << ", digits " << digits
            << "\n";
  return 0;
}
