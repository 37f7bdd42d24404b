// Columns of a table as numbers that a program can compute with: neither nan nor inf, which would be in every result.
#pragma once
#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <vector>

/// The columns of a table that was read from `path`, [rows, columns].
///   throws  std::runtime_error naming file, record and column of the first number that is not finite, as the dtype has
///           it: 1e40 is not in float32; otherwise as tandem::data::Table::numbers
inline tandem::Tensor finite_numbers(const std::string& path, const tandem::data::Table& table,
                                     const std::vector<std::string>& columns,
                                     tandem::data::NumbersOptions options = {}) {
  tandem::Tensor numbers = table.numbers(columns, options);
  const std::vector<double> all = cast(numbers, tandem::float64).to_vector<double>();
  const auto bad = std::find_if_not(all.begin(), all.end(), [](double x) { return std::isfinite(x); });
  if (bad == all.end()) return numbers;
  const std::size_t at = static_cast<std::size_t>(bad - all.begin()), row = at / columns.size();
  const std::string& column = columns[at % columns.size()];
  throw std::runtime_error(fmt::format("{}: record {}, column {}: {} is not a finite number", path, row + 1, column,
                                       table.text(static_cast<std::int64_t>(row), column)));
}
