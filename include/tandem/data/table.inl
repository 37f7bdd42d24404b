// Definitions of data/table.hpp.
#pragma once
#include <cmath>
#include <unordered_map>

#include "tandem/data/table.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/parse_number.hpp"

namespace TANDEM_NS::data {

namespace detail {

[[noreturn]] inline void raise_table(const char* op, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(op, what);
}
inline std::string cut_text(std::string_view s) {
  constexpr std::size_t most = 60;
  return tandem::detail::escaped_text(s.substr(0, most)) + (s.size() > most ? "..." : "");
}
// Writes a cell as a number. Returns what is wrong with it, or null.
template <class T>
const char* write_cell(void* to, std::size_t at, std::string_view text, const NumbersOptions& o,
                       std::string_view na_value) {
  T& x = static_cast<T*>(to)[at];
  if (text.empty() || text == na_value) {
    if (!o.missing) return "is missing";
    x = static_cast<T>(*o.missing);
    return nullptr;
  }
  if (!tandem::detail::parse_number(text, x)) return "is not a number";
  return o.finite && !std::isfinite(x) ? "is not a finite number" : nullptr;
}

}  // namespace detail

TANDEM_INLINE std::size_t Column::among(const std::vector<std::string>& names, const char* op,
                                        const std::string& path) const {
  const auto fail = [&](const std::string& what) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + detail::cut_text(name);
    detail::raise_table(op, path + " has " + what + "; its columns are " + all);
  };
  if (!by_name_) {
    if (index_ < 0 || index_ >= static_cast<i64>(names.size())) fail("no column " + std::to_string(index_));
    return static_cast<std::size_t>(index_);
  }
  std::size_t found = names.size();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name_) {
      if (found < names.size()) fail("two columns " + detail::cut_text(name_) + ": use their numbers");
      found = i;
    }
  if (found == names.size()) fail("no column " + detail::cut_text(name_));
  return found;
}

TANDEM_INLINE i64 Table::rows() const {
  return columns_.empty() ? 0 : static_cast<i64>(cells_->size() / columns_.size());
}
TANDEM_INLINE Span<const std::string_view> Table::row(i64 row) const {
  if (row < 0 || row >= rows())
    detail::raise_table("Table::row", "there is no row " + std::to_string(row) + " in " + std::to_string(rows()));
  return {cells_->data() + static_cast<std::size_t>(row) * columns_.size(), columns_.size()};
}
TANDEM_INLINE std::string_view Table::text(i64 row, const Column& column) const {
  return this->row(row)[column.among(columns_, "Table::text", path_)];
}
TANDEM_INLINE std::vector<std::string> Table::texts(const Column& column) const {
  const std::size_t at = column.among(columns_, "Table::texts", path_);
  std::vector<std::string> r;
  r.reserve(static_cast<std::size_t>(rows()));
  for (i64 i = 0; i < rows(); ++i) r.emplace_back(row(i)[at]);
  return r;
}

TANDEM_INLINE Tensor Table::numbers_of(Span<const std::size_t> columns, Shape shape, NumbersOptions o) const {
  const tandem::detail::OutsideTrace outside;
  if (o.dtype != DType::float32 && o.dtype != DType::float64)
    detail::raise_table("Table::numbers", std::string("dtype must be float32 or float64, not ") + name(o.dtype));
  const Tensor r = Tensor::allocate({shape, o.dtype, {}});
  const auto write = o.dtype == DType::float32 ? &detail::write_cell<float> : &detail::write_cell<double>;
  std::size_t at = 0;
  for (i64 i = 0; i < rows(); ++i)
    for (const std::size_t column : columns) {
      const std::string_view text = row(i)[column];
      if (const char* const fault = write(r.raw(), at++, text, o, na_value_))
        detail::raise_table("Table::numbers", path_ + ": record " + std::to_string(i + 1) + ", column " +
                                                  detail::cut_text(columns_[column]) + ": " + detail::cut_text(text) +
                                                  " " + fault);
    }
  return r;
}
TANDEM_INLINE Tensor Table::numbers(const Column& column, NumbersOptions o) const {
  const std::size_t at[] = {column.among(columns_, "Table::numbers", path_)};
  return numbers_of(at, {rows()}, o);
}
TANDEM_INLINE Tensor Table::numbers(std::initializer_list<Column> columns, NumbersOptions o) const {
  std::vector<std::size_t> at;
  for (const Column& c : columns) at.push_back(c.among(columns_, "Table::numbers", path_));
  return numbers_of(at, {rows(), static_cast<i64>(at.size())}, o);
}
TANDEM_INLINE Tensor Table::numbers(const std::vector<std::string>& columns, NumbersOptions o) const {
  std::vector<std::size_t> at;
  for (const std::string& c : columns) at.push_back(Column(c).among(columns_, "Table::numbers", path_));
  return numbers_of(at, {rows(), static_cast<i64>(at.size())}, o);
}
TANDEM_INLINE Categories Table::categories(const Column& column) const {
  const tandem::detail::OutsideTrace outside;
  const std::size_t at = column.among(columns_, "Table::categories", path_);
  Categories r{Tensor::allocate({Shape{rows()}, DType::int32, {}}), {}};
  auto* const codes = static_cast<std::int32_t*>(r.codes.raw());
  std::unordered_map<std::string_view, std::int32_t> seen;
  for (i64 i = 0; i < rows(); ++i) {
    const auto [entry, first] = seen.emplace(row(i)[at], static_cast<std::int32_t>(r.names.size()));
    if (first) r.names.emplace_back(entry->first);
    codes[i] = entry->second;
  }
  return r;
}

}  // namespace TANDEM_NS::data
