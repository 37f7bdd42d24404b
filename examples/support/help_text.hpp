// The help of a program, with lines that fit a terminal.
#pragma once
#include <sstream>
#include <string>

/// Breaks the lines of CLI11's help at 80 characters. What follows begins below the option's description.
inline std::string wrapped(const std::string& help) {
  constexpr std::size_t most = 80, column = 30;  // CLI11 begins descriptions at this column
  std::string result;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.starts_with("  ") ? column : 0;
    while (line.size() > most) {
      std::size_t at = line.rfind(' ', most);
      if (at == line.npos || at <= indent) at = line.find(' ', most);  // a word that is longer
      if (at == line.npos) break;
      result += line.substr(0, at) + "\n";
      line = std::string(indent, ' ') + line.substr(at + 1);
    }
    result += line + "\n";
  }
  return result;
}
