// The byte format of a saved graph: numbers are little-endian and of fixed width, strings and lists are preceded by
// a 32-bit count. For the definitions of graph/io/serialize.hpp.
//
//   file      "TANDEMGR", format:32, library version:16 16 16 0:16, [2: names of inputs, names of outputs], variables,
//             names of the ops, graph
//   variable  name, trainable:8, tensor ([2: one without data has its value elsewhere])
//   graph     name, number of arguments:32, variables (their indices in the file), nodes, outputs (values)
//   node      op:32, name, inputs (values), specs of the outputs, fields:8, then each: name, kind:8, value
//   spec      dtype:8, device:8 8, rank:8, dims:64 (an unknown one is INT64_MIN)
//   tensor    spec, has data:8, the elements (a string element is a string)
//   [2: object  its number:32, and if that is the number of objects before it, the kind and the tensors that make it]
//
// Values are numbered in the order in which nodes produce them. [2: ...] is in files of format 2 only.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

inline constexpr char graph_magic[] = "TANDEMGR";
static_assert(std::endian::native == std::endian::little, "elements are saved as they lie in memory");

enum class FieldKind : std::uint8_t { number, real, text, numbers, graph, tensor, list, object };
inline constexpr std::uint8_t not_given = 255;  // replaces the count of `numbers`

// Limits of the reader. The writer enforces them too, so what is saved can be loaded.
inline constexpr int max_graph_depth = 128;        // of nested graphs
inline constexpr i64 max_elements = i64{1} << 40;  // of one value: rules may add and multiply sizes
TANDEM_LAZY inline bool is_storable(const Shape& s) {
  i64 n = 1;
  for (i64 d : s) {
    if (d != none && (d < 0 || d > max_elements || n > max_elements / std::max<i64>(d, 1))) return false;
    if (d > 0) n *= d;
  }
  return true;
}

/// A name that the list has twice, or null.
TANDEM_LAZY inline const std::string* repeated(const std::vector<std::string>& names) {
  std::vector<const std::string*> sorted;
  for (const std::string& name : names) sorted.push_back(&name);
  std::sort(sorted.begin(), sorted.end(), [](const std::string* a, const std::string* b) { return *a < *b; });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (*sorted[i] == *sorted[i - 1]) return sorted[i];
  return nullptr;
}

class ByteWriter {
 public:
  std::string out;

  template <class T>
  void number(T x) {
    raw(&x, sizeof x);
  }
  void raw(const void* data, std::size_t n) { out.append(static_cast<const char*>(data), n); }
  void count(std::size_t n) {
    if (n > std::numeric_limits<std::uint32_t>::max())
      errors::raise<errors::ResourceExhaustedError>("serialize", "a graph of more than 2^32 parts");
    number(static_cast<std::uint32_t>(n));
  }
  void text(std::string_view s) {
    count(s.size());
    raw(s.data(), s.size());
  }
};

/// Bounds-checked reader: returns no byte that is not there, and no count that the remaining bytes could not fill.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size() - at_; }
  std::string_view take(std::size_t n) {
    if (n > left()) fail("is truncated: " + std::to_string(n) + " bytes expected, " + std::to_string(left()) + " left");
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  template <class T>
  T number() {
    T x;
    std::memcpy(&x, take(sizeof x).data(), sizeof x);
    return x;
  }
  /// A number less than `limit`.
  template <class T = std::uint32_t>
  std::size_t below(std::size_t limit, const char* what) {
    const std::size_t x = number<T>();
    if (x >= limit) fail(std::string("has ") + what + " " + std::to_string(x) + " of " + std::to_string(limit));
    return x;
  }
  /// Reads a count of items of at least this many bytes each.
  std::size_t count(std::size_t least_bytes) {
    const std::size_t n = number<std::uint32_t>();
    if (n > left() / least_bytes)
      fail("is truncated: " + std::to_string(n) + " items do not fit in " + std::to_string(left()) + " bytes");
    return n;
  }
  std::string text() { return std::string(take(count(1))); }

  [[noreturn]] void fail(const std::string& what) const {
    errors::raise<errors::DataLossError>("parse_graph", "the graph " + what + ", at byte " + std::to_string(at_));
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace TANDEM_NS::detail
