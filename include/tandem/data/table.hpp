// Table: named columns of texts, read as numbers or as categories. Part of the component tandem::data. Not here:
// reading one from a file (csv.hpp).
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::data {

namespace detail {
class TableReader;
}

/// A column of a table, by name or by its number from 0.
class Column {
 public:
  template <std::integral I>
  Column(I index) : index_(static_cast<i64>(index)), by_name_(false) {}
  Column(std::string name) : name_(std::move(name)) {}
  Column(const char* name) : name_(name) {}

  /// Its number among these names.
  ///   throws  errors::InvalidArgumentError, in the name of `op`, if there is no such column, or two of that name
  TANDEM_API std::size_t among(const std::vector<std::string>& names, const char* op, const std::string& path) const;

 private:
  std::string name_;
  i64 index_ = 0;
  bool by_name_ = true;
};

struct NumbersOptions {
  DType dtype = DType::float32;        ///< float32 or float64
  std::optional<double> missing = {};  ///< in place of missing fields; default: they raise
  bool finite = false;                 ///< raise for nan, inf, and what is infinite in the dtype, as 1e40 in float32
};
/// A column of categories: names[codes[i]] is the text of row i.
struct Categories {
  Tensor codes;                    ///< int32 [rows]
  std::vector<std::string> names;  ///< in the order of their first appearance
};

/// Rows of texts under the names of their columns, as a CSV file has them. Copies share the texts.
class TANDEM_API Table {
 public:
  /// An empty table.
  Table() = default;

  i64 rows() const;
  const std::vector<std::string>& columns() const { return columns_; }
  /// The texts of a row, valid during the table's lifetime.
  ///   throws  errors::InvalidArgumentError for a row out of range
  Span<const std::string_view> row(i64 row) const;
  /// One text, valid during the table's lifetime.
  std::string_view text(i64 row, const Column& column) const;
  /// The texts of a column.
  ///   throws  errors::InvalidArgumentError for an unknown column, naming those there are
  std::vector<std::string> texts(const Column& column) const;

  /// A column as numbers. White space around a number is ignored.
  ///   returns  float32 or float64 [rows]; of several columns [rows, columns]
  ///   throws   errors::InvalidArgumentError, naming file, record and column, for a text that is not a number; for a
  ///            missing field (empty, or the file's `na_value`) unless `missing` is given; for a number that is not
  ///            finite if `finite` is set; for an unknown column, and for other dtypes
  Tensor numbers(const Column& column, NumbersOptions = {}) const;
  Tensor numbers(std::initializer_list<Column> columns, NumbersOptions = {}) const;
  Tensor numbers(const std::vector<std::string>& columns, NumbersOptions = {}) const;
  /// A column as categories: its different texts are numbered in the order of their first appearance.
  ///   throws   errors::InvalidArgumentError for an unknown column
  Categories categories(const Column& column) const;

 private:
  friend class detail::TableReader;
  Tensor numbers_of(Span<const std::size_t> columns, Shape shape, NumbersOptions) const;

  std::vector<std::string> columns_;
  std::shared_ptr<const std::string> content_;  // what the cells refer to
  std::shared_ptr<const std::vector<std::string_view>> cells_;
  std::string path_, na_value_;
};

}  // namespace TANDEM_NS::data
