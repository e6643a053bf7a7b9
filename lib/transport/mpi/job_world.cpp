// Opens the library for an MPI at run time, so that librota needs none.
#include "transport/mpi/job_world.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "transport/mpi/transport.h"

namespace rota::transport::mpi {
namespace {

// One of these functions is in each library. See <rota/mpi.h>.
constexpr auto kNames = std::to_array<const char*>(
    {"rota_calls_of_openmpi", "rota_calls_of_mpich", "rota_calls_of_mpi"});

// What a process has of its MPI. It is never destroyed, because finalize_mpi() needs it at the end.
struct Opened {
  const Calls* calls = nullptr;
  std::shared_ptr<World> world;
};

Opened& opened() {
  static auto* const kOpened = new Opened;
  return *kOpened;
}

[[noreturn]] void refuse_library(const std::string& path, const std::string& why) {
  throw Error(
      ErrorCode::kInvalidArgument,
      "the job's transport is mpi, but this rank cannot use the library " + path + ": " + why);
}

const Calls* table_of(void* library) {
  for (const char* name : kNames) {
    using Function = const Calls* (*)() noexcept;
    if (const auto call = reinterpret_cast<Function>(::dlsym(library, name))) return call();
  }
  return nullptr;
}

void check(const Calls& calls, const char* function, int error) {
  if (error != 0) throw Error(ErrorCode::kSystem, failure_of(calls, function, error));
}

std::string text_of(const Place& place) {
  return std::to_string(place.rank) + " of " + std::to_string(place.world_size);
}

// Throws unless MPI knows the same world as the launcher. If MPI has not found its launcher, each
// rank is an MPI world of one.
void require_place(const Calls& calls, const Place& place) {
  int rank = 0;
  int world_size = 0;
  check(calls, "MPI_Comm_rank", calls.place(calls.world(), rank, world_size));
  const Place own{static_cast<std::size_t>(rank), static_cast<std::size_t>(world_size)};
  if (own.rank == place.rank && own.world_size == place.world_size) return;
  throw Error(ErrorCode::kMismatch,
              "this process is rank " + text_of(place) + ", but for " + calls.name +
                  " it is rank " + text_of(own) +
                  ": --mpi names the MPI of the program, pmix for Open MPI and pmi for MPICH");
}

// The program does not know that there is an MPI, so its end is the end of MPI. MPI_Finalize waits
// for all ranks, so a process that has failed must not call it: nobody would see its exit code.
void finalize_mpi(int exit_code, void* /*nothing*/) {
  const World& world = *opened().world;
  if (exit_code != 0 || world.is_kept() || !world.may_call()) return;
  const TurnHolder holder(world);
  world.calls().finalize();
}

}  // namespace

void open_library(const std::string& path) {
  if (opened().calls) return;
  if (path.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "the job's transport is mpi, but CommunicatorOptions::mpi_library names no library "
        "for it; from_environment() has the name from ROTA_MPI_LIBRARY, which rotarun sets");
  }
  // The plug-ins of Open MPI look for its names among those of all libraries, so it must be
  // RTLD_GLOBAL. It is never closed: MPI has threads.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char* why = ::dlerror();
    refuse_library(path, why ? why : "the reason is unknown");
  }
  const Calls* calls = table_of(library);
  if (!calls) refuse_library(path, "it has no table of MPI functions");
  if (calls->version != Calls::kVersion) {
    refuse_library(path, "it has version " + std::to_string(calls->version) +
                             " of the table of MPI functions, but rota needs " +
                             std::to_string(Calls::kVersion) +
                             ": take both from one release of rota");
  }
  opened().calls = calls;
}

std::shared_ptr<World> make_job_world(const Calls& calls, const Place& place,
                                      const std::function<void()>& look_around,
                                      base::TimePoint deadline) {
  if (calls.is_finalized()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the job's transport is mpi, but the program has called MPI_Finalize already: make "
                "the communicator before");
  }
  const bool is_ours = !calls.is_initialized();
  if (is_ours) check(calls, "MPI_Init_thread", calls.initialize());
  require_place(calls, place);
  auto world = std::make_shared<World>(calls, calls.world(), deadline, look_around,
                                       "the constructor of rota::Communicator");
  opened().world = world;
  if (is_ours && ::on_exit(finalize_mpi, nullptr) != 0) {
    throw Error(ErrorCode::kSystem, "on_exit has no room for the end of MPI");
  }
  return world;
}

std::unique_ptr<transport::Transport> join(const GroupShape& shape, Descriptors /*descriptors*/,
                                           const CallTerms& terms, base::TimePoint deadline) {
  ROTA_ASSERT(opened().calls != nullptr);
  const Place place{.rank = shape.own.front(), .world_size = shape.domains.size()};
  return transport_of_all(make_job_world(*opened().calls, place, terms.look_around, deadline));
}

std::shared_ptr<World> job_world() noexcept { return opened().world; }

}  // namespace rota::transport::mpi
