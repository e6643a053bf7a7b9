// Tests the key that the hosts of a job share, the keys derived from it, and how long hosts wait
// for each other.
#include "launcher/hosts/rendezvous/host_setup.h"
#include "launcher/plan/job_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <span>

#include "launcher/hosts/across.h"
#include "testing/key_text.h"
#include "training/temporary_folder.h"

namespace rota::launcher {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

HostPlan meeting_at(const std::string& leader, bool is_on_loopback,
                    const std::string& job_id = "job") {
  return {.cluster = {},
          .leader = leader,
          .is_on_loopback = is_on_loopback,
          .cluster_text = {},
          .job_id = job_id};
}

class KeyOfJob : public ::testing::Test {
 protected:
  // The letter becomes a part of the file's name, and selects the text of the key.
  std::string write(char letter, mode_t permissions = 0600, std::size_t bytes = 32) {
    const std::string text = testing::key_text(letter, bytes);
    const auto path = folder_.write(std::string("key-") + letter, {text.begin(), text.end()});
    EXPECT_EQ(::chmod(path.c_str(), permissions), 0);
    return path;
  }

  static auth::Key key_of(char letter, const std::string& job_id = "job") {
    const std::string text = testing::key_text(letter, 32);
    return auth::job_key(std::as_bytes(std::span(text)), job_id);
  }

  std::string home() const { return "HOME=" + folder_.path().string(); }

  auth::Key key(const std::vector<std::string>& environment) const {
    return key_of_job(options_, host_plan_, environment);
  }

  std::string trouble(const std::vector<std::string>& environment) const {
    try {
      key(environment);
    } catch (const KeyError& error) {
      return error.what();
    }
    return "none";
  }

  testing::TemporaryFolder folder_;
  Options options_;
  HostPlan host_plan_ = meeting_at("a:7700", false);
};

TEST_F(KeyOfJob, IsMadeOfTheFileThatIsNamed) {
  const std::string in_environment = "ROTA_KEY_FILE=" + write('e');
  EXPECT_EQ(key({home(), in_environment}), key_of('e'));
  options_.key_file = write('f');
  EXPECT_EQ(key({home(), in_environment}), key_of('f'));
}

TEST_F(KeyOfJob, IsMadeOfTheFileInTheHome) {
  if (std::filesystem::exists("/etc/rota/key")) GTEST_SKIP() << "this host has a key of its own";
  std::filesystem::create_directories(folder_.path() / ".config/rota");
  std::filesystem::copy_file(write('h'), folder_.path() / ".config/rota/key");
  EXPECT_EQ(key({home()}), key_of('h'));
}

TEST_F(KeyOfJob, IsAnotherOneForAnotherJob) {
  options_.key_file = write('f');
  host_plan_.job_id = "other";
  EXPECT_EQ(key({}), key_of('f', "other"));
  EXPECT_FALSE(key({}) == key_of('f'));
}

TEST_F(KeyOfJob, IsMissingWithWordsThatSayWhatToDo) {
  if (std::filesystem::exists("/etc/rota/key")) GTEST_SKIP() << "this host has a key of its own";
  for (const std::vector<std::string>& environment :
       {std::vector<std::string>{}, {home()}, {home(), "ROTA_KEY_FILE="}}) {
    EXPECT_THAT(trouble(environment), AllOf(HasSubstr("/etc/rota/key or ~/.config/rota/key"),
                                            HasSubstr("head -c 32 /dev/urandom"),
                                            HasSubstr("--key-file or ROTA_KEY_FILE")));
  }
}

TEST_F(KeyOfJob, IsNotLookedForElsewhereWhereAFileIsNamed) {
  std::filesystem::create_directories(folder_.path() / ".config/rota");
  std::filesystem::copy_file(write('h'), folder_.path() / ".config/rota/key");
  options_.key_file = folder_.path() / "nowhere";
  EXPECT_THAT(trouble({home()}), HasSubstr("nowhere cannot be opened"));
}

TEST_F(KeyOfJob, IsNotMadeOfAFileThatOthersMayRead) {
  for (const mode_t permissions : {0644U, 0604U, 0602U, 0620U}) {
    options_.key_file = write('f', permissions);
    EXPECT_THAT(trouble({}), AllOf(HasSubstr(options_.key_file), HasSubstr("chmod g-w,o-rw")))
        << permissions;
  }
  options_.key_file = write('f', 0440);
  EXPECT_EQ(key({}), key_of('f'));
}

TEST_F(KeyOfJob, IsNotMadeOfAFileThatIsTooShort) {
  options_.key_file = write('f', 0600, 31);
  EXPECT_THAT(trouble({}), HasSubstr("has 31 bytes"));
}

TEST_F(KeyOfJob, IsNoSecretWithInsecureOnLoopback) {
  options_.insecure = true;
  options_.key_file = folder_.path() / "nowhere";
  host_plan_ = meeting_at("localhost:7700", true);
  const std::vector<std::byte> known(32);
  EXPECT_EQ(key({}), auth::job_key(known, "job"));
  host_plan_.job_id = "other";
  EXPECT_EQ(key({}), auth::job_key(known, "other"));
}

TEST_F(KeyOfJob, IsRefusedWithInsecureBeyondLoopback) {
  options_.insecure = true;
  options_.key_file = write('f');
  EXPECT_EQ(trouble({}),
            "--insecure is only for hosts on loopback, but these hosts connect to a:7700");
}

// A key in the usual place is not used: all hosts must use the same key, and others might have
// none.
TEST_F(KeyOfJob, IsNoSecretWhereTheyMeetByALocalName) {
  std::filesystem::create_directories(folder_.path() / ".config/rota");
  std::filesystem::copy_file(write('h'), folder_.path() / ".config/rota/key");
  host_plan_ = meeting_at("@rota-0-job:7700", true);
  host_plan_.is_local = true;
  const std::vector<std::byte> known(32);
  EXPECT_EQ(key({home()}), auth::job_key(known, "job"));
}

TEST(KeyOfData, FollowsFromTheKeyOfTheJobAndTheSalt) {
  const auth::Key one = auth::random_key();
  const auth::Key other = auth::random_key();
  EXPECT_EQ(key_of_data(one, "salt"), key_of_data(one, "salt"));
  EXPECT_FALSE(key_of_data(one, "salt") == key_of_data(one, "sale"));
  EXPECT_FALSE(key_of_data(one, "salt") == key_of_data(one, ""));
  EXPECT_FALSE(key_of_data(one, "salt") == key_of_data(other, "salt"));
  EXPECT_FALSE(key_of_data(one, "salt") == one);
}

TEST(JoinTimeout, IsLongWhereOthersMayHaveToBeScheduledFirst) {
  EXPECT_EQ(join_timeout({}, meeting_at("a:7700", false)), seconds(600));
  EXPECT_EQ(join_timeout({}, meeting_at("localhost:7700", true)), seconds(30));
}

TEST(JoinTimeout, IsWhatWasGiven) {
  Options options;
  options.join_timeout = seconds(7);
  EXPECT_EQ(join_timeout(options, meeting_at("a:7700", false)), seconds(7));
  EXPECT_EQ(join_timeout(options, meeting_at("localhost:7700", true)), seconds(7));
}

}  // namespace
}  // namespace rota::launcher
