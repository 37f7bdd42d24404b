// The fit of polynomial_fit and data_parallel: the points of 5 x^2 + 3, or of a file, and the features of a parabola.
#pragma once
#include <fmt/core.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

namespace parabola {

struct Points {
  tandem::Tensor x, y;  // [n, 1] each
};

/// Draws new points, also in every call of a traced function.
inline Points draw(std::int64_t n = 100) {
  const tandem::Tensor x = tandem::random::uniform({n, 1}, -10, 10);
  return {x, 5 * square(x) + 3};
}
/// The points of a CSV file with the columns x and y.
inline Points load(const std::string& path) {
  const tandem::data::Table table = tandem::data::load_csv(path);
  if (table.rows() == 0) throw std::runtime_error(path + " has no points");
  return {table.numbers({"x"}, {.finite = true}), table.numbers({"y"}, {.finite = true})};
}

/// x^2, x and 1, side by side.
inline tandem::Tensor features(const tandem::Tensor& x) { return tandem::concat({square(x), x, ones_like(x)}, 1); }

/// Prints the weights as a polynomial.
inline void print(const tandem::Variable& w, std::string_view what) {
  const std::vector<float> a = w.to_vector<float>();
  fmt::print("{}: y = {:.4f} x^2 {:+.4f} x {:+.4f}\n", what, a[0], a[1], a[2]);
}

}  // namespace parabola
