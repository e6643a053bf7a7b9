// librota_nccl.so says what is wrong with a NCCL that it cannot use, and what one can do that older
// ones cannot. Its declarations are those of nccl.h, where there is one.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <rota/nccl_calls.h>

#include "collectives/nccl/calls.h"
#include "testing/error_of.h"
#include "testing/fake_nccl.h"

namespace rota {
namespace {

using testing::FakeNccl;

struct Opened {
  const nccl::Calls* calls = nullptr;
  std::string why;
};

Opened open_file(const std::string& path) {
  using Function = const nccl::Calls* (*)(const char*, const char**) noexcept;
  void* library = dlopen(ROTA_NCCL_LIBRARY_PATH, RTLD_NOW);
  const auto find = reinterpret_cast<Function>(dlsym(library, "rota_calls_of_nccl"));
  const char* why = "";
  const nccl::Calls* calls = find(path.c_str(), &why);
  return {calls, why};
}

TEST(NcclLibrary, SaysThatThereIsNone) {
  const auto [calls, why] = open_file("/nowhere/libnccl.so.2");
  EXPECT_EQ(calls, nullptr);
  EXPECT_EQ(why,
            "NCCL cannot be opened: /nowhere/libnccl.so.2: cannot open shared object file: No such "
            "file or directory: install NCCL, or name its file in ROTA_NCCL_FILE");
}

TEST(NcclLibrary, RefusesAnotherMajorVersion) {
  const std::string path = FakeNccl::path_of("3.1");
  EXPECT_EQ(open_file(path).why, path + " is NCCL 3.1.0, but rota works with NCCL 2");
}

TEST(NcclLibrary, RefusesAVersionWithoutNonBlockingCommunicators) {
  const std::string path = FakeNccl::path_of("2.13");
  EXPECT_EQ(open_file(path).why, path + " is NCCL 2.13.4, but rota needs NCCL 2.14.3 or newer");
}

TEST(NcclLibrary, RefusesAnotherLibrary) {
  EXPECT_EQ(open_file("libm.so.6").why, "libm.so.6 is no NCCL: it does not tell its version");
}

TEST(NcclLibrary, FindsOutWhatAVersionCanDo) {
  const auto abilities = [](const char* folder) {
    const Opened opened = open_file(FakeNccl::path_of(folder));
    return collectives::nccl::name_of(*opened.calls) + ": " +
           collectives::nccl::abilities_of(*opened.calls);
  };
  EXPECT_EQ(abilities("2.14"), "NCCL 2.14.3: nothing new");
  EXPECT_EQ(abilities("2.18"), "NCCL 2.18.5: split");
  EXPECT_EQ(abilities("2.19"), "NCCL 2.19.3: split, register");
  EXPECT_EQ(abilities("2.28"), "NCCL 2.28.9: split, shrink, revoke, register");
  EXPECT_EQ(abilities("2.30"), "NCCL 2.30.3: split, shrink, revoke, register, share devices");
}

TEST(NcclLibrary, IsRefusedWithAnotherTable) {
  nccl::Calls calls;
  calls.version = 7;
  const auto error = testing::error_of([&] { nccl::use(calls); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error->what(),
               "the library for NCCL has a table of version 7, but this rota needs version 1: "
               "install both from one release of rota");
}

// A real NCCL, if the machine has one: without a GPU it still tells its version.
TEST(NcclLibrary, OpensTheRealOne) {
  const char* path = std::getenv("ROTA_REAL_NCCL");
  const auto [calls, why] = open_file(path ? path : "libnccl.so.2");
  if (!calls) {
    EXPECT_NE(why.find("NCCL cannot be opened: libnccl.so.2"), std::string::npos) << why;
    return;
  }
  EXPECT_GE(calls->nccl_version, 21403);
  EXPECT_TRUE(calls->splits || calls->nccl_version < 21800);
}

}  // namespace
}  // namespace rota
