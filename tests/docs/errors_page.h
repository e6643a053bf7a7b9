// Compares errors with the messages that the page about errors quotes. On the page, "host" stands
// for the name of this host.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include <rota/error.h>

#include "docs/pages.h"
#include "os/host.h"
#include "testing/paths.h"

namespace rota::testing {

inline const std::string& errors_page() {
  static const std::string kPage = text_of(source_path("docs/guide/errors.md"));
  return kPage;
}

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Returns the section of the page with the code's name; empty if there is none.
inline std::string section_of(ErrorCode code) {
  const std::string& page = errors_page();
  const std::size_t section = page.find("\n## " + std::string(to_string(code)) + "\n");
  if (section == std::string::npos) return {};
  return page.substr(section, page.find("\n## ", section + 1) - section);
}

// Expects that the page has a section with the code's name, and that a block of this section
// contains exactly the message. The page has "data" in place of the folder `where`.
inline void expect_quoted(const Error& error, ErrorCode code, const std::string& where = {}) {
  ASSERT_EQ(error.code(), code) << error.what();
  std::string text = replaced(error.what(), "(" + os::host_name() + ")", "(host)");
  if (!where.empty()) text = replaced(text, where, "data");
  const std::string words = section_of(code);
  ASSERT_NE(words, "") << to_string(code);
  EXPECT_NE(words.find("```text\n" + text + "\n```"), std::string::npos)
      << "the page about " << to_string(code) << " does not have: " << text;
}

}  // namespace rota::testing
