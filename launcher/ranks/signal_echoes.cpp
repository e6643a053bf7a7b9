// Tells a new signal from an echo, by the ways by which it has come within the last second.
#include "launcher/ranks/signal_echoes.h"

namespace rota::launcher {

bool SignalEchoes::is_echo(int number, const std::string& way, base::TimePoint now) {
  Heard& heard = heard_[number];
  const bool is_soon = !heard.ways.empty() && now - heard.since < kEchoTime;
  if (is_soon && heard.ways.insert(way).second) return true;
  heard = {.since = now, .ways = {way}};
  return false;
}

}  // namespace rota::launcher
