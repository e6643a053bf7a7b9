// Draws a collective: ranks from left to right, steps from top to bottom.
#pragma once
#include <span>
#include <string>

#include "plan/question.h"
#include "plan/schedule.h"

namespace rota::bench {

// Returns text. One line holds messages of the same step that do not cross; a step has as many
// lines as it needs. Up to eight ranks fit into a hundred columns.
std::string draw_text(const Question& question, std::span<const Arrow> arrows);

// Returns a complete SVG document. Each message is one element of the class "message", with a title
// that describes the message.
std::string draw_svg(const Question& question, std::span<const Arrow> arrows);

}  // namespace rota::bench
