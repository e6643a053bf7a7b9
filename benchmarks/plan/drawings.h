// A collective for a person to look at: ranks across, steps down.
#pragma once
#include <span>
#include <string>

#include "plan/question.h"
#include "plan/schedule.h"

namespace rota::bench {

// A line holds the messages of a step that do not cross; a step has as many lines as that takes. Up
// to eight ranks fit into a hundred columns.
std::string draw_text(const Question& question, std::span<const Arrow> arrows);

// A whole SVG document, a picture for a browser. Each message is one element of the class
// "message", whose title says all about it.
std::string draw_svg(const Question& question, std::span<const Arrow> arrows);

}  // namespace rota::bench
