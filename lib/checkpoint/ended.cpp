// Writes and reads ended.json: {"run":"5f0c…","start":2,"step":12000}.
#include "checkpoint/ended.h"

#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include <rota/error.h>

#include "checkpoint/file_names.h"
#include "os/durable_file.h"
#include "os/mapped_file.h"
#include "os/system_error.h"

namespace rota::checkpoint {
namespace {

constexpr std::size_t kMostEndedBytes = 4096;

std::string path_of_ended(const std::string& folder) { return folder + "/" + kEndedName; }

}  // namespace

std::string encode(const Ended& ended) {
  const nlohmann::ordered_json json = {
      {"run", to_text(ended.run)}, {"start", ended.start}, {"step", ended.step}};
  return json.dump() + "\n";
}

std::optional<Ended> ended_from(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto run = json.find("run");
  const auto start = json.find("start");
  const auto step = json.find("step");
  const bool has_all = run != json.end() && run->is_string() && start != json.end() &&
                       start->is_number_unsigned() && step != json.end() &&
                       step->is_number_unsigned();
  if (!has_all) return std::nullopt;
  const auto id = run_id_from(run->get_ref<const std::string&>());
  if (!id) return std::nullopt;
  const Ended ended{
      .run = *id, .start = start->get<std::uint64_t>(), .step = step->get<std::uint64_t>()};
  if (encode(ended) != text) return std::nullopt;
  return ended;
}

void write_ended(const std::string& folder, const Ended& ended) {
  const std::string hidden = folder + "/." + kEndedName;
  os::remove_all(hidden);
  os::NewFile file(hidden);
  const std::string text = encode(ended);
  file.append(std::as_bytes(std::span(text)));
  file.sync();
  os::rename(hidden, path_of_ended(folder));
  os::sync_folder(folder);
}

void remove_ended(const std::string& folder) { os::remove_all(path_of_ended(folder)); }

std::optional<Ended> read_ended(const std::string& folder) {
  const std::string path = path_of_ended(folder);
  std::string text(kMostEndedBytes, '\0');
  try {
    text.resize(os::MappedFile(path).read(0, std::as_writable_bytes(std::span(text))));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) return std::nullopt;
    throw;
  }
  auto ended = ended_from(text);
  if (!ended) {
    throw Error(ErrorCode::kBadData,
                path + " is damaged: delete it; a training run that ends writes it again");
  }
  return ended;
}

std::optional<std::filesystem::file_time_type> time_of_ended(const std::string& folder) {
  std::error_code error;
  const std::string path = path_of_ended(folder);
  const auto time = std::filesystem::last_write_time(path, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
    return std::nullopt;
  }
  if (error) os::throw_unreadable(path, error.value());
  return time;
}

}  // namespace rota::checkpoint
