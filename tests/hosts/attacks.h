// What somebody may try at a port where members of a job are expected: without the key, or with it
// and in a place that is not his.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "auth/handshake.h"
#include "launcher/hosts/meet/meeting.h"
#include "testing/network.h"

namespace rota::testing {

// What ROTA_HOSTS makes of so many slots on each host.
launcher::Meeting meeting_of(const Network& network, const std::vector<std::size_t>& slots);

struct Target {
  const Network& network;
  std::size_t attacker = 0;  // The host that he is on.
  std::string address;
  auth::Key key;            // Of the members.
  auth::Identity identity;  // Of one who may come in.
};

struct Attack {
  std::string name;
  std::function<std::string(const Target&)> act;  // Says how it ended, as below.
  std::string expected;                           // The beginning of that.
};

// How an attack may end, beside "refused: " and why.
inline const std::string kHungUp = "hung up";
inline const std::string kLeftWaiting = "left waiting";
inline const std::string kLetIn = "let in";

// By those who do not hold the key of the port; not even Target::key is, where that is of another.
std::vector<Attack> attacks_without_the_key();

// At the port where launchers meet, by those who hold Target::key.
std::vector<Attack> attacks_with_the_key();

// All at once, and held against what is expected of each.
void expect_refused(const std::vector<Attack>& attacks, const Target& target);

}  // namespace rota::testing
