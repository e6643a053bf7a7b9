// Writes the rank table as JSON.
#include "launcher/plan/table_json.h"

#include <rota/error.h>

#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "launcher/plan/devices.h"
#include "os/address.h"

namespace rota::launcher {
namespace {

using Json = nlohmann::ordered_json;

// Returns the value as text. Host names may be any bytes, so invalid UTF-8 is replaced.
std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_resolved(const std::string& address) {
  try {
    return !address.empty() && os::is_numeric(address);
  } catch (const Error&) {
    return false;
  }
}

Json known(const std::string& text, bool is_known) { return is_known ? Json(text) : Json(nullptr); }

std::string_view to_string(RankState::Phase phase) noexcept {
  switch (phase) {
    case RankState::Phase::kStarting:
      return "starting";
    case RankState::Phase::kRunning:
      return "running";
    case RankState::Phase::kEnded:
      return "ended";
  }
  return "starting";
}

Json devices_of(std::size_t rank, const KnownDevices& devices) {
  if (rank >= devices.size() || !devices[rank]) return nullptr;
  return parse_devices(*devices[rank]);
}

Json to_object(const RankTable& table, const KnownDevices& devices, std::size_t rank) {
  const RankRow& row = table.rows[rank];
  return {{"rank", rank},
          {"local_rank", row.local_rank},
          {"host", known(row.host, !row.host.empty())},
          {"address", known(row.address, is_resolved(row.address))},
          {"role", rank == 0 ? "chief" : "worker"},
          {"cores", known(row.cores, !row.cores.empty())},
          {"devices", devices_of(rank, devices)}};
}

template <class ToObject>
std::string to_text(const RankTable& table, const std::string& note, const ToObject& object_of) {
  std::string text = "{\"source\":" + dump(table.source) + ",\"epoch\":" + dump(table.epoch);
  if (!note.empty()) text += ",\"note\":" + dump(note);
  if (!table.tuned.empty()) text += ",\"tuned\":" + dump(table.tuned);
  text += ",\"world\":" + dump(table.rows.size()) + ",\"ranks\":[";
  for (std::size_t rank = 0; rank < table.rows.size(); ++rank) {
    text += (rank == 0 ? "\n  " : ",\n  ") + dump(object_of(rank));
  }
  return text + "\n]}\n";
}

}  // namespace

std::string to_json(const RankTable& table, const KnownDevices& devices, const std::string& note) {
  return to_text(table, note, [&](std::size_t rank) { return to_object(table, devices, rank); });
}

std::string to_json(const RankTable& table, const KnownDevices& devices,
                    std::span<const RankState> states) {
  ROTA_ASSERT(states.size() == table.rows.size());
  return to_text(table, "", [&](std::size_t rank) {
    const RankState& state = states[rank];
    Json object = to_object(table, devices, rank);
    object["state"] = to_string(state.phase);
    const bool has_ended = state.phase == RankState::Phase::kEnded;
    object["exit_code"] = has_ended ? Json(state.exit_code) : Json(nullptr);
    return object;
  });
}

}  // namespace rota::launcher
