// Draws the tables of layers: docs/layers.svg.
#pragma once
#include <string>

#include "style/layers.h"

namespace rota::style {

// Returns an SVG with a row of boxes for each level, and the lowest level at the bottom. `library`
// is on the left, `launcher` on the right. An arrow goes from a folder to each folder that it may
// include, around all boxes on its way. Arrows that other arrows imply are left out. A dashed arrow
// shows that training uses the communicator through public headers. The box of a launcher folder
// names the folders of lib/ that this folder may include and the folders below it may not include.
std::string picture_of(const Layers& library, const Layers& launcher);

}  // namespace rota::style
