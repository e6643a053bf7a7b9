// Prints each field of a plan in words.
#include "plan/table.h"

#include <algorithm>
#include <cstddef>

#include "plan/question.h"

namespace rota::bench {
namespace {

using collectives::After;
using collectives::Buffer;
using collectives::Lane;
using collectives::Place;
using collectives::Plan;
using collectives::Step;
using collectives::Verb;

const char* to_text(Buffer buffer) {
  switch (buffer) {
    case Buffer::kValues:
      return "values";
    case Buffer::kInput:
      return "input";
    case Buffer::kScratch:
      return "scratch";
    case Buffer::kFeedback:
      return "feedback";
    case Buffer::kCoded:
      return "coded";
    case Buffer::kStaging:
      return "staging";
  }
  return "unknown";
}

const char* to_text(Verb verb) {
  switch (verb) {
    case Verb::kSend:
      return "send";
    case Verb::kReceive:
      return "receive";
    case Verb::kReduce:
      return "reduce";
    case Verb::kCopy:
      return "copy";
    case Verb::kAdd:
      return "add";
    case Verb::kPreScale:
      return "pre-scale";
    case Verb::kEncode:
      return "encode";
    case Verb::kDecode:
      return "decode";
    case Verb::kDecodeAdd:
      return "decode-add";
  }
  return "unknown";
}

std::string to_text(const Place& place) {
  if (place.slice.count == 0) return "nothing";
  const std::size_t begin = place.slice.offset;
  return to_text(place.buffer) + ("[" + std::to_string(begin)) + ":" +
         std::to_string(begin + place.slice.count) + ")";
}

std::string to_text(const Lane& lane) {
  if (lane.kind == Lane::Kind::kLocal) return "in its own memory";
  return (lane.kind == Lane::Kind::kSends ? "to rank " : "from rank ") + std::to_string(lane.peer);
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string row_of(const Plan& plan, const Step& step) {
  std::string text = padded(to_text(step.verb), 10) + to_text(step.at);
  if (step.from.slice.count > 0) text += " from " + to_text(step.from);
  if (step.last) text += ", last";
  for (std::uint32_t i = 0; i < step.after_count; ++i) {
    const After& after = plan.afters[step.first_after + i];
    text = (i == 0 ? padded(text, 34) + "  after " : text + ", ") + "lane " +
           std::to_string(after.lane) + " step " + std::to_string(after.count);
  }
  return text;
}

}  // namespace

std::string tabulate(std::span<const Plan> plans) {
  std::string text;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const Plan& plan = plans[rank];
    text += "\nrank " + std::to_string(rank) + ": " + counted(plan.lanes.size(), "lane") + ", " +
            counted(plan.steps.size(), "step") + ", scratch of " +
            counted(plan.scratch_count, "element") + "\n";
    for (std::size_t i = 0; i < plan.lanes.size(); ++i) {
      const Lane& lane = plan.lanes[i];
      text += "  lane " + std::to_string(i) + ", " + to_text(lane) + "\n";
      for (std::size_t step = 0; step < lane.step_count; ++step) {
        text += "    " + padded(std::to_string(step + 1), 4) +
                row_of(plan, plan.steps[lane.first_step + step]) + "\n";
      }
    }
  }
  return text;
}

}  // namespace rota::bench
