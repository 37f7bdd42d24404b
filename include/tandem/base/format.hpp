// Numbers as text, the same in every locale, for implementation halves only.
#pragma once
#include <charconv>
#include <cstdlib>
#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// The fewest digits that read back as x: "0.1", "1", "1e+16", "-inf", "nan". Powers of ten from -4 up to 15 are
/// written out.
template <class F>
std::string shortest_text(F x) {
  char at[32];
  std::string s(at, std::to_chars(at, at + sizeof at, x, std::chars_format::scientific).ptr);
  const std::size_t e = s.find('e');
  if (e == std::string::npos) return s;
  const int power = std::atoi(s.c_str() + e + 1);
  if (power < -4 || power > 15) return s;
  s.resize(e);
  const std::size_t first = s[0] == '-', whole = first + static_cast<std::size_t>(power < 0 ? 0 : power) + 1;
  if (s.size() > first + 1) s.erase(first + 1, 1);  // the point
  if (power < 0) s.insert(first, static_cast<std::size_t>(-power), '0');
  if (s.size() < whole) s.append(whole - s.size(), '0');
  if (s.size() > whole) s.insert(whole, 1, '.');
  return s;
}
/// At most `digits` significant ones, as printf's %g.
inline std::string rounded_text(double x, int digits) {
  char at[48];
  return {at, std::to_chars(at, at + sizeof at, x, std::chars_format::general, digits).ptr};
}

}  // namespace TANDEM_NS::detail
