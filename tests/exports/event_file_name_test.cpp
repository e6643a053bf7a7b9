// Readers sort event files by name. So a new name must be the last one, whatever the clock says.
#include "exports/event_file_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace rota::exports {
namespace {

const EventFileOrigin kOrigin{1'700'000'000, "host", 42, 3};

TEST(EventFileName, SaysWhenWhereAndWho) {
  EXPECT_EQ(name_event_file(kOrigin, {}), "events.out.tfevents.1700000000.host.42.3");
  EXPECT_EQ(name_event_file({5, "host", 42, 3}, {}), "events.out.tfevents.0000000005.host.42.3");
}

TEST(EventFileName, ComesAfterAllOthers) {
  const std::vector<std::string> last_names = {
      "events.out.tfevents.1699999999.host.42.0",       // Earlier.
      "events.out.tfevents.1700000000.host.42.2",       // In the same second.
      "events.out.tfevents.1700000000.host.42.9",       // "3" sorts before "9".
      "events.out.tfevents.1700000000.other.1.0",       // Of another host.
      "events.out.tfevents.1700003600.host.1.0",        // The clock has gone back an hour.
      "events.out.tfevents.9999999999.host.1.0",        // The last second with ten digits.
      "events.out.tfevents.99999999999999999999.host",  // No time.
      "events.out.tfevents.later",                      // Of another program.
      "zzz.tfevents",
  };
  for (const std::string& last : last_names) {
    const std::vector<std::string> names = {"events.out.tfevents.1600000000.host.1.0", last,
                                            "zzzz.txt"};
    const std::string name = name_event_file(kOrigin, names);
    EXPECT_GT(name, last);
    EXPECT_NE(name.find("tfevents"), std::string::npos) << name;
    EXPECT_TRUE(name.ends_with(".host.42.3")) << name;
  }
}

TEST(EventFileName, IgnoresFilesThatAreNoEventFiles) {
  const std::vector<std::string> names = {"zzz.txt", "model.onnx"};
  EXPECT_EQ(name_event_file(kOrigin, names), "events.out.tfevents.1700000000.host.42.3");
}

}  // namespace
}  // namespace rota::exports
