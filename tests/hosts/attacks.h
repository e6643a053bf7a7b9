// Attacks a port where members of a job are expected: without the key, or with the key, but in the
// name of another host or rank.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "auth/handshake.h"
#include "launcher/hosts/rendezvous/host_plan.h"
#include "testing/network.h"

namespace rota::testing {

// Returns the host plan that ROTA_HOSTS gives with these slots on each host.
launcher::HostPlan host_plan_of(const Network& network, const std::vector<std::size_t>& slots);

struct Target {
  const Network& network;
  std::size_t attacker = 0;  // The attacker's host.
  std::string address;
  auth::Key key;            // The members' key.
  auth::Identity identity;  // The identity of an expected member.
};

struct Attack {
  std::string name;
  std::function<std::string(const Target&)> act;  // Returns how the attack ended, as below.
  std::string expected;                           // How that string should begin.
};

// How an attack may end. Another way is "refused: ", followed by the reason.
inline const std::string kHungUp = "hung up";
inline const std::string kLeftWaiting = "left waiting";
inline const std::string kLetIn = "let in";

// Returns attacks without the key of the port. At a rank's port, Target::key is not that key
// either.
std::vector<Attack> attacks_without_the_key();

// Returns attacks by members that know Target::key, at the port where launchers meet.
std::vector<Attack> attacks_with_the_key();

// Runs all attacks at the same time, and compares each result with the expected one.
void expect_refused(const std::vector<Attack>& attacks, const Target& target);

}  // namespace rota::testing
