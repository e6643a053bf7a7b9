// Texts in UTF-8. Readers of protocol buffers refuse a whole message if one of its texts is not.
#pragma once
#include <string>
#include <string_view>

namespace rota::formats {

bool is_utf8(std::string_view text) noexcept;

// Returns `text` with U+FFFD in place of each byte that is no part of a character.
std::string to_utf8(std::string_view text);

}  // namespace rota::formats
