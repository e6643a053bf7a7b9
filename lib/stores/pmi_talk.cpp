// Asks one question after the other: the talk needs no answer before the question is out.
#include "stores/pmi_talk.h"

#include <array>
#include <charconv>
#include <utility>

#include <rota/error.h>

#include "stores/wipe.h"

namespace rota::stores {
namespace {

constexpr std::string_view kKey = "rota.rank0";
constexpr std::size_t kMostShown = 120;

struct Question {
  std::string_view command;
  std::string_view answer;
};

// Indexed by the steps of the talk.
constexpr std::array kQuestions{
    Question{"init", "response_to_init"},     Question{"get_maxes", "maxes"},
    Question{"get_my_kvsname", "my_kvsname"}, Question{"put", "put_result"},
    Question{"barrier_in", "barrier_out"},    Question{"get", "get_result"},
    Question{"finalize", "finalize_ack"}};

// Leaves out the value of a field, which may be rank 0's word: the word may have the key.
std::string printable(std::string_view line) {
  constexpr std::string_view kValue = " value=";
  const std::size_t value = line.find(kValue);
  if (value != std::string_view::npos) {
    return printable(line.substr(0, value)) + " and a value";
  }
  std::string text(line.substr(0, kMostShown));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + text + (line.size() > kMostShown ? "…'" : "'");
}

// Returns the value of a field of the line, or nothing. The fields are separated by spaces, and no
// value of this talk has a space.
std::optional<std::string_view> find_field(std::string_view line, std::string_view name) {
  while (!line.empty()) {
    const std::string_view field = line.substr(0, line.find(' '));
    const std::size_t equals = field.find('=');
    if (equals != std::string_view::npos && field.substr(0, equals) == name) {
      return field.substr(equals + 1);
    }
    line.remove_prefix(std::min(line.size(), field.size() + 1));
  }
  return std::nullopt;
}

// Appends to a text that may hold the key. If the text has to move, wipes its old place.
void append(std::string_view more, std::string& text) {
  if (text.capacity() - text.size() < more.size()) {
    std::string larger;
    larger.reserve(2 * (text.size() + more.size()));
    larger = text;
    wipe(text);
    text.swap(larger);
  }
  text += more;
}

}  // namespace

PmiTalk::PmiTalk(std::optional<std::string> own_word)
    : is_first_(own_word.has_value()), word_(std::move(own_word).value_or(std::string())) {
  ask(Step::kInit);
}

PmiTalk::~PmiTalk() {
  for (std::string* text : {&word_, &in_, &out_}) wipe(*text);
}

std::string PmiTalk::take_output() { return std::exchange(out_, {}); }

void PmiTalk::receive(std::string_view bytes) {
  append(bytes, in_);
  std::size_t end = 0;
  while ((end = in_.find('\n')) <= kMostLineBytes) {
    on_line(std::string_view(in_).substr(0, end));
    in_.erase(0, end + 1);
  }
  if (in_.size() <= kMostLineBytes) return;
  throw Error(ErrorCode::kBadData, "the launcher's PMI server sends a line of more than " +
                                       std::to_string(kMostLineBytes) +
                                       " bytes: " + printable(in_));
}

std::string PmiTalk::awaited() const {
  if (step_ == Step::kBarrier) return "the other ranks: not all of them have asked yet";
  const auto& question = kQuestions[static_cast<std::size_t>(step_)];
  return "an answer to cmd=" + std::string(question.command);
}

void PmiTalk::ask(Step step) {
  step_ = step;
  if (step == Step::kDone) return;
  append("cmd=" + std::string(kQuestions[static_cast<std::size_t>(step)].command), out_);
  if (step == Step::kInit) append(" pmi_version=1 pmi_subversion=1", out_);
  if (step == Step::kPut || step == Step::kGet) {
    append(" kvsname=" + store_name_ + " key=" + std::string(kKey), out_);
  }
  if (step == Step::kPut) {
    append(" value=", out_);
    append(word_, out_);
  }
  append("\n", out_);
}

void PmiTalk::on_line(std::string_view line) {
  const bool is_expected =
      step_ != Step::kDone &&
      find_field(line, "cmd") == kQuestions[static_cast<std::size_t>(step_)].answer;
  if (!is_expected) {
    throw Error(ErrorCode::kBadData,
                "the launcher's PMI server sends " + printable(line) + ", where " +
                    (is_done() ? "no line" : awaited()) +
                    " is expected: perhaps the program itself talks to the server");
  }
  const std::string_view code = find_field(line, "rc").value_or("0");
  if (code != "0") {
    throw Error(ErrorCode::kSystem,
                "the launcher's PMI server refuses cmd=" +
                    std::string(kQuestions[static_cast<std::size_t>(step_)].command) + ": " +
                    printable(line));
  }
  on_answer(line);
}

void PmiTalk::on_answer(std::string_view line) {
  switch (step_) {
    case Step::kInit:
      return ask(Step::kMaxes);
    case Step::kMaxes:
      require_room(line);
      return ask(Step::kName);
    case Step::kName:
      store_name_ = find_field(line, "kvsname").value_or("");
      return ask(is_first_ ? Step::kPut : Step::kBarrier);
    case Step::kPut:
      return ask(Step::kBarrier);
    case Step::kBarrier:
      return ask(is_first_ ? Step::kFinalize : Step::kGet);
    case Step::kGet:
      word_ = find_field(line, "value").value_or("");
      return ask(Step::kFinalize);
    case Step::kFinalize:
      return ask(Step::kDone);
    case Step::kDone:
      return;
  }
}

void PmiTalk::require_room(std::string_view line) const {
  const std::string_view text = find_field(line, "vallen_max").value_or("");
  std::size_t most = 0;
  std::from_chars(text.data(), text.data() + text.size(), most);
  if (word_.size() < most) return;
  throw Error(ErrorCode::kSystem, "the launcher's PMI server stores values of fewer than " +
                                      std::to_string(most) + " bytes, and rank 0 has " +
                                      std::to_string(word_.size()));
}

}  // namespace rota::stores
