// Definitions of train/flags.hpp.
#pragma once
#include <cstdio>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/train/flags.hpp"

namespace TANDEM_NS::app::detail {

TANDEM_INLINE std::optional<int> parse(Flags& flags, int argc, const char* const* argv) {
  std::FILE* to = stdout;
  std::string text;
  try {
    if (flags.parse_arguments(argc, argv)) return {};
    text = "usage: " + std::string(argc > 0 ? argv[0] : "program") + " [--flag=value ...]\n" + flags.help();
  } catch (const errors::OpError& e) {
    to = stderr;
    text = e.message() + "\n(--help prints all flags)\n";
  }
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
  return to == stderr ? 2 : 0;
}

}  // namespace TANDEM_NS::app::detail
