// Makes and recognises names.
#include "checkpoint/file_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/sizes.h"

namespace rota::checkpoint {
namespace {

constexpr std::size_t kStepDigits = 12;
constexpr std::size_t kIndexDigits = 5;
constexpr std::string_view kRemoved = ".removed";
constexpr std::string_view kEnding = ".safetensors";
constexpr std::array<std::string_view, 3> kKinds = {"parameters", "optimizer", "rank"};

std::string digits(std::uint64_t number, std::size_t least) {
  const std::string text = std::to_string(number);
  return std::string(least - std::min(least, text.size()), '0') + text;
}

// Returns the number if all of `text` is a decimal number, without a sign or a space.
std::optional<std::uint64_t> number_from(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read_to != end) return std::nullopt;
  return number;
}

std::optional<std::size_t> size_from(std::string_view text) {
  const auto number = number_from(text);
  return number ? base::as_size(*number) : std::nullopt;
}

// Takes the part up to `separator`, and the separator, from the front of `text`. Returns the part.
// Without a separator, takes all of `text`.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + separator.size(), text.size()));
  return part;
}

}  // namespace

std::string folder_name(std::uint64_t step) { return digits(step, kStepDigits); }

std::optional<std::uint64_t> step_of_folder(std::string_view name) {
  const auto step = number_from(name);
  if (!step || folder_name(*step) != name) return std::nullopt;
  return step;
}

std::string hidden_name(const SaveName& save) {
  return "." + folder_name(save.step) + "." + to_text(save.run) + "." + std::to_string(save.start);
}

std::optional<SaveName> save_of_hidden(std::string_view name) {
  if (!name.starts_with('.')) return std::nullopt;
  std::string_view rest = name.substr(1);
  const auto step = step_of_folder(take_until(rest, "."));
  const auto run = run_id_from(take_until(rest, "."));
  const auto start = number_from(rest);
  if (!step || !run || !start) return std::nullopt;
  const SaveName save{.step = *step, .run = *run, .start = *start};
  if (hidden_name(save) != name) return std::nullopt;
  return save;
}

std::string removed_name(std::uint64_t step) {
  return "." + folder_name(step) + std::string(kRemoved);
}

bool is_leftover(std::string_view name) {
  if (save_of_hidden(name)) return true;
  if (!name.starts_with('.')) return false;
  std::string_view rest = name.substr(1);
  const auto step = step_of_folder(take_until(rest, "."));
  return step && name == removed_name(*step);
}

std::string set_aside_name(std::uint64_t step, std::size_t number) {
  return folder_name(step) + ".set-aside-" + std::to_string(number);
}

std::string to_text(const FileName& name) {
  return std::string(kKinds[static_cast<std::size_t>(name.kind)]) + "-" +
         digits(name.index, kIndexDigits) + "-of-" + digits(name.count, kIndexDigits) +
         std::string(kEnding);
}

std::optional<FileName> file_name_from(std::string_view text) {
  std::string_view rest = text;
  const auto kind = std::ranges::find(kKinds, take_until(rest, "-"));
  const auto index = size_from(take_until(rest, "-of-"));
  const auto count = size_from(take_until(rest, "."));
  if (kind == kKinds.end() || !index || !count || *index >= *count) return std::nullopt;
  const FileName name{
      .kind = static_cast<FileKind>(kind - kKinds.begin()), .index = *index, .count = *count};
  if (to_text(name) != text) return std::nullopt;
  return name;
}

FileKind kind_of_shared(std::string_view tensor_name) {
  return tensor_name.starts_with("model/") ? FileKind::kParameters : FileKind::kOptimizer;
}

}  // namespace rota::checkpoint
