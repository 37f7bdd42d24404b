// Definitions of serving/examples_proto.hpp.
#pragma once
#include <vector>

#include "tandem/io/example.hpp"
#include "tandem/io/wire.hpp"
#include "tandem/serving/examples_proto.hpp"
#include "tandem/serving/json_predict.hpp"
#include "tandem/serving/predict_proto.hpp"

namespace TANDEM_NS::serving::impl {

using io::detail::WireReader;
using io::detail::WireType;

// The bytes are those that the examples have in the message.
TANDEM_INLINE Tensor parse_examples(std::string_view input, i64 most_bytes) {
  std::vector<std::string_view> examples;
  std::string_view context;
  WireReader in(input);
  while (in.next()) {
    const bool has_context = in.is(2, WireType::bytes);
    if (!has_context && !in.is(1, WireType::bytes)) continue;
    examples.clear(), context = {};  // of a oneof the last one counts
    WireReader list(in.bytes());
    while (list.next()) {
      if (list.is(1, WireType::bytes)) examples.push_back(list.bytes());
      else if (has_context && list.is(2, WireType::bytes)) context = list.bytes();
    }
    if (!list.ok()) refuse_message("Input");
  }
  if (!in.ok()) refuse_message("Input");
  if (examples.empty()) errors::raise<errors::InvalidArgumentError>("serving", "Input is empty: it has no examples");
  if (!context.empty()) check_context(examples.size(), context.size(), input.size(), most_bytes);
  const Tensor t = Tensor::allocate({Shape{static_cast<i64>(examples.size())}, DType::string, Device()});
  auto* const to = static_cast<Bytes*>(t.raw());
  if (context.empty()) {
    for (std::size_t i = 0; i < examples.size(); ++i) to[i] = example_bytes(examples[i], i);
    return t;
  }
  try {
    const train::Example shared = train::Example::parse(std::string(context));
    for (std::size_t i = 0; i < examples.size(); ++i) {
      train::Example own = train::Example::parse(std::string(examples[i]));
      own.features.feature.insert(shared.features.feature.begin(), shared.features.feature.end());
      to[i] = example_bytes(own.serialize(), i);
    }
  } catch (const errors::DataLossError& e) {
    errors::raise<errors::InvalidArgumentError>("serving", e.message());
  }
  return t;
}

TANDEM_INLINE ExamplesRequest parse_examples_request(std::string_view message, const char* name) {
  ExamplesRequest r;
  WireReader in(message);
  while (in.next()) {
    if (in.is(1, WireType::bytes)) r.model = parse_model_spec(in.bytes());
    else if (in.is(2, WireType::bytes)) r.input = in.bytes();
  }
  if (!in.ok()) refuse_message(name);
  return r;
}

}  // namespace TANDEM_NS::serving::impl
