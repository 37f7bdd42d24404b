// TensorView: the parts of a TensorProto, which may be damaged or hostile. For the definitions of the reader.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/io/wire.hpp"

namespace TANDEM_NS::summary::detail {

struct TensorView {
  u64 type = 0;                 // DataType
  std::vector<i64> shape;       // sizes that are not negative
  std::string_view content;     // tensor_content
  std::vector<double> numbers;  // of the lists of floats, doubles, integers and bools
  std::vector<std::string> texts;

  /// The number of elements by the shape; -1 if it overflows.
  i64 size() const;
};
/// Reads a TensorProto; false if it is damaged.
bool parse_tensor(std::string_view bytes, TensorView& to);
/// The elements as doubles; false if they are not numbers, or not as many as the shape has, or more than `most`.
bool numbers_of(const TensorView& t, i64 most, std::vector<double>& to);
/// Appends the doubles of a field: one, or several that are packed; false if it is damaged.
bool append_doubles(const io::detail::WireReader& field, std::vector<double>& to);

}  // namespace TANDEM_NS::summary::detail
