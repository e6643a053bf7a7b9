// A collective as a picture for a browser: ranks across, steps down.
#pragma once
#include <span>
#include <string>

#include "plan/question.h"
#include "plan/schedule.h"

namespace rota::bench {

// A whole SVG document. Each message is one element of the class "message", whose title says all
// about it.
std::string draw_svg(const Question& question, std::span<const Arrow> arrows);

}  // namespace rota::bench
