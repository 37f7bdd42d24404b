// Definitions of values.hpp.
#include "examples/saved_model/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include <tandem/io.hpp>
#include <tandem/strings.hpp>

using namespace tandem;
using nlohmann::json;

namespace {

// The leaves of nested lists, in order, and the shape that they have.
struct Leaves {
  std::vector<i64> shape;
  std::vector<const json*> values;

  explicit Leaves(const json& from) {
    for (const json* j = &from; j->is_array(); j = &j->front()) {
      shape.push_back(static_cast<i64>(j->size()));
      if (shape.size() > static_cast<std::size_t>(max_rank)) throw std::invalid_argument("lists are nested too deep");
      if (j->empty()) break;
    }
    add(from, 0);
  }

 private:
  void add(const json& j, std::size_t depth) {
    if (j.is_array() != (depth < shape.size()) || (j.is_array() && static_cast<i64>(j.size()) != shape[depth]))
      throw std::invalid_argument("lists of one level do not have equal lengths");
    if (!j.is_array()) return values.push_back(&j);
    for (const json& item : j) add(item, depth + 1);
  }
};

std::string text_of(const json& j) {
  if (j.is_object() && j.size() == 1 && j.contains("b64"))  // web-safe or not, padded or not, as servers take it
    return io::decode_base64(constant(j["b64"].get<std::string>())).item<std::string>();
  return j.get<std::string>();
}
template <class T>
Tensor numbers(const Leaves& leaves) {
  std::vector<T> values;
  for (const json* j : leaves.values) values.push_back(j->is_boolean() ? T(j->get<bool>()) : j->get<T>());
  return constant(values, {.shape = Shape(leaves.shape)});
}
// Whole numbers that the dtype has, unchanged.
Tensor integers(const Leaves& leaves, DType dtype) {
  const bool is_unsigned = dtype == uint8 || dtype == uint16 || dtype == uint32 || dtype == uint64;
  for (const json* j : leaves.values) {
    const bool is_above = j->is_number_unsigned() && j->get<u64>() > u64{INT64_MAX};
    const bool is_below = j->is_number_integer() && !j->is_number_unsigned() && j->get<i64>() < 0;
    if (j->is_number_float() || (is_above && dtype != uint64) || (is_below && is_unsigned))
      throw std::invalid_argument(fmt::format("{} is not a value of {}", j->dump(), name(dtype)));
  }
  const Tensor all = numbers<i64>(leaves),
               r = cast(all, dtype);  // above the limit of int64, the bits are those of uint64
  const std::vector<i64> given = all.to_vector<i64>(), kept = cast(r, int64).to_vector<i64>();
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] != kept[i])
      throw std::invalid_argument(fmt::format("{} is not a value of {}", leaves.values[i]->dump(), name(dtype)));
  return r;
}
Tensor from_json(const std::string& text, DType dtype) {
  const json all = json::parse(text);
  const Leaves leaves(all);
  if (dtype == DType::string) {
    std::vector<std::string> values;
    for (const json* j : leaves.values) values.push_back(text_of(*j));
    return constant(values, {.shape = Shape(leaves.shape)});
  }
  for (const json* j : leaves.values)
    if (!j->is_number() && !j->is_boolean()) throw std::invalid_argument("there is text among the numbers");
  if (is_floating(dtype)) return cast(numbers<double>(leaves), dtype);
  return integers(leaves, dtype);
}

}  // namespace

std::pair<std::string, std::string> split_input(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == 0 || at == text.npos)
    throw std::invalid_argument(fmt::format("'{}' does not have the form NAME=FILE.npy or NAME=JSON", text));
  return {text.substr(0, at), text.substr(at + 1)};
}
Tensor tensor_of(const std::string& text, const Spec& spec) {
  if (text.ends_with(".npy")) return io::load_npy(text);
  try {
    return from_json(text, spec.dtype);
  } catch (const json::exception&) {
    throw std::invalid_argument(fmt::format("'{}' is neither a file NAME.npy nor JSON of {}", text, to_string(spec)));
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("'{}' is not {}: {}", text, to_string(spec), e.what()));
  }
}
