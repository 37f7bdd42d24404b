// The rows that a loop reads and produces, one per iteration: of one shape, or ragged. For the definitions of
// graph/control/control_ops.hpp.
#pragma once
#include <algorithm>
#include <utility>

#include "tandem/base/bytes.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY inline Spec row_of(Spec s) {
  s.shape.erase(0);
  return s;
}
TANDEM_LAZY inline Spec stack_of(Spec s, i64 rows) {
  s.shape.insert(0, rows);
  return s;
}

// Stacks rows into one tensor, in a buffer that grows by doubling if their number is not known.
class Stack {
 public:
  /// rows: the final number of rows, or none.
  TANDEM_LAZY Stack(Spec row, i64 rows) : row_(std::move(row)), known_(rows) {}

  TANDEM_LAZY void put(i64 at, const Tensor& row) {
    if (!buffer_.is_set()) begin(row.spec());
    else if (!(row.shape() == row_.shape)) raise_shape(row.spec());
    if (at >= room_) grow();
    copy(buffer_, at, row.raw(), 1);
    count_ = std::max(count_, at + 1);
  }
  TANDEM_LAZY Tensor finish() {
    if (!buffer_.is_set()) {
      for (int i = 0; i < row_.shape.rank(); ++i)
        if (row_.shape.dim(i) == none) row_.shape.set(i, 0);
      return Tensor::allocate(stack_of(row_, 0));
    }
    return count_ == room_ ? std::move(buffer_) : Tensor::view_of(buffer_, stack_of(row_, count_));
  }

 private:
  TANDEM_LAZY void begin(const Spec& row) {
    row_ = row;
    room_ = known_ == none ? 8 : known_;
    buffer_ = Tensor::allocate(stack_of(row_, room_));
  }
  TANDEM_LAZY void grow() {
    const Tensor old = std::exchange(buffer_, Tensor::allocate(stack_of(row_, 2 * room_)));
    copy(buffer_, 0, old.raw(), std::exchange(room_, 2 * room_));
  }
  TANDEM_LAZY static void copy(const Tensor& to, i64 at, const void* from, i64 rows) {
    const Spec row = row_of(to.spec());
    void* const start = static_cast<char*>(to.raw()) + static_cast<std::size_t>(at) * row.bytes();
    if (row.dtype == DType::string)
      std::copy_n(static_cast<const Bytes*>(from), rows * row.shape.size(), static_cast<Bytes*>(start));
    else copy_bytes(start, row.device, from, row.device, static_cast<std::size_t>(rows) * row.bytes());
  }
  TANDEM_LAZY [[noreturn]] void raise_shape(const Spec& got) const {
    errors::raise<errors::InvalidArgumentError>(
        "loop", "stacks one result per iteration, which is " + to_string(row_) + " in one and " + to_string(got) +
                    " in another; all rows of a tensor must have the same shape");
  }
  Spec row_;
  i64 known_, room_ = 0, count_ = 0;
  Tensor buffer_;
};

// Concatenates rows of different shapes.
class RaggedStack {
 public:
  TANDEM_LAZY explicit RaggedStack(Spec row) : row_(std::move(row)) {}
  TANDEM_LAZY void put(i64 at, Tensor row) {
    if (static_cast<std::size_t>(at) >= rows_.size()) rows_.resize(static_cast<std::size_t>(at) + 1);
    rows_[static_cast<std::size_t>(at)] = std::move(row);
  }
  TANDEM_LAZY Tensor flat() const {
    i64 total = 0;
    for (const Tensor& t : rows_) total += t.size();
    Tensor r = Tensor::allocate({{total}, row_.dtype, row_.device});
    char* to = static_cast<char*>(r.raw());
    for (const Tensor& t : rows_) {
      copy_elements(to, t);
      to += t.spec().bytes();
    }
    return r;
  }
  TANDEM_LAZY Tensor table() const {
    const int rank = row_.shape.rank();
    Tensor r = Tensor::allocate({{static_cast<i64>(rows_.size()), rank}, DType::int64, {}});
    i64* to = static_cast<i64*>(r.raw());
    for (const Tensor& t : rows_) to = std::copy_n(t.shape().begin(), rank, to);
    return r;
  }

 private:
  TANDEM_LAZY static void copy_elements(void* to, const Tensor& t) {
    if (t.dtype() == DType::string) std::copy_n(static_cast<const Bytes*>(t.raw()), t.size(), static_cast<Bytes*>(to));
    else copy_bytes(to, t.device(), t.raw(), t.device(), t.spec().bytes());
  }
  Spec row_;
  std::vector<Tensor> rows_;
};
// An input of which the loop reads one row at a time.
class RowSource {
 public:
  TANDEM_LAZY RowSource(const Tensor& rows) : x_(&rows), row_(row_of(rows.spec())) {}
  TANDEM_LAZY RowSource(const Tensor& flat, const Tensor& table, const Spec& row)
      : x_(&flat), row_(row), table_(&table) {
    const auto rank = static_cast<std::size_t>(row.shape.rank());
    const i64* const dims = static_cast<const i64*>(table.raw());
    if (table.shape().dim(1) != row.shape.rank()) raise_table();
    i64 left = flat.size();
    for (i64 i = 0; i < table.shape().dim(0); ++i) {
      starts_.push_back(flat.size() - left);
      i64 size = 1;
      for (i64 d : Span(dims + static_cast<std::size_t>(i) * rank, rank))
        if (d < 0 || __builtin_mul_overflow(size, d, &size)) raise_table();
      if (size > left) raise_table();
      left -= size;
    }
  }
  TANDEM_LAZY i64 count() const { return table_ ? table_->shape().dim(0) : x_->shape().dim(0); }
  TANDEM_LAZY Tensor row(i64 i) const {
    if (!table_) return Tensor::view_of(*x_, row_, static_cast<std::size_t>(i) * row_.bytes());
    const auto rank = static_cast<std::size_t>(row_.shape.rank()), at = static_cast<std::size_t>(i);
    Spec s = row_;
    s.shape = Shape(Span(static_cast<const i64*>(table_->raw()) + at * rank, rank));
    return Tensor::view_of(*x_, s, static_cast<std::size_t>(starts_[at]) * size_of(s.dtype));
  }

 private:
  // A graph file may contain any table, so it is checked.
  TANDEM_LAZY [[noreturn]] void raise_table() const {
    errors::raise<errors::InvalidArgumentError>(
        "loop", "the table of shapes does not describe the ragged rows in " + to_string(x_->spec()));
  }
  const Tensor* x_;
  Spec row_;
  const Tensor* table_ = nullptr;
  std::vector<i64> starts_;  // in elements
};

}  // namespace detail
}  // namespace TANDEM_NS
