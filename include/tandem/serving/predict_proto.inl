// Definitions of serving/predict_proto.hpp.
#pragma once
#include "tandem/serving/examples_proto.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"

namespace TANDEM_NS::serving::impl {

using io::detail::WireReader;
using io::detail::WireType;

TANDEM_INLINE void refuse_message(const char* message) {
  errors::raise<errors::InvalidArgumentError>("serving", std::string("the ") + message + " is damaged");
}

TANDEM_INLINE ModelSpec parse_model_spec(std::string_view message) {
  ModelSpec m;
  m.signature.clear();
  WireReader in(message);
  while (in.next()) {
    if (in.is(1, WireType::bytes)) m.name = in.bytes();
    else if (in.is(3, WireType::bytes)) m.signature = in.bytes();
    else if (in.is(4, WireType::bytes)) m.label = in.bytes();
    else if (in.is(2, WireType::bytes)) {
      m.version = 0;  // Int64Value leaves 0 out
      WireReader value(in.bytes());
      while (value.next())
        if (value.is(1, WireType::varint)) m.version = static_cast<i64>(value.number());
      if (!value.ok()) refuse_message("ModelSpec");
    }
  }
  if (!in.ok()) refuse_message("ModelSpec");
  return m;
}
TANDEM_INLINE void append_model_spec(std::string& to, std::uint32_t field, const ModelSpec& m) {
  io::detail::append_message(to, field, [&] {
    io::detail::append_field(to, 1, m.name);
    if (m.version) io::detail::append_message(to, 2, [&] { io::detail::append_integer(to, 1, *m.version); });
    if (!m.signature.empty()) io::detail::append_field(to, 3, m.signature);
  });
}

// An entry of a map from names to tensors.
TANDEM_INLINE void parse_named_tensor(std::string_view message, NamedTensors& to, i64& fill) {
  std::string name;
  std::string_view tensor;
  WireReader entry(message);
  while (entry.next()) {
    if (entry.is(1, WireType::bytes)) name = entry.bytes();
    else if (entry.is(2, WireType::bytes)) tensor = entry.bytes();
  }
  if (!entry.ok()) refuse_message("map of tensors");
  to.insert_or_assign(name, parse_tensor(tensor, "the tensor '" + name + "'", fill));
}

TANDEM_INLINE Request parse_predict_request(std::string_view message, i64 most_filled) {
  Request r;
  i64 fill = most_filled;
  WireReader in(message);
  while (in.next()) {
    if (in.is(1, WireType::bytes)) r.model = parse_model_spec(in.bytes());
    else if (in.is(2, WireType::bytes)) parse_named_tensor(in.bytes(), r.inputs, fill);
    else if (in.is(3, WireType::bytes)) r.outputs.emplace_back(in.bytes());
  }
  if (!in.ok()) refuse_message("PredictRequest");
  return r;
}
TANDEM_INLINE std::vector<Request> parse_prediction_log(std::string_view message) {
  std::vector<Request> r;
  WireReader log(message);
  while (log.next()) {
    const bool is_classify = log.is(2, WireType::bytes), is_predict = log.is(6, WireType::bytes);
    if (!is_classify && !is_predict && !log.is(3, WireType::bytes)) continue;
    WireReader of_method(log.bytes());
    while (of_method.next()) {
      if (!of_method.is(1, WireType::bytes)) continue;
      if (is_predict) {
        r.push_back(parse_predict_request(of_method.bytes()));
        continue;
      }
      const ExamplesRequest examples = parse_examples_request(of_method.bytes(), "request of the PredictionLog");
      r.push_back({.model = examples.model,
                   .inputs = {{"inputs", parse_examples(examples.input)}},
                   .method = is_classify ? saved_model::classify_method : saved_model::regress_method});
    }
    if (!of_method.ok()) refuse_message("PredictionLog");
  }
  if (!log.ok()) refuse_message("PredictionLog");
  return r;
}
TANDEM_INLINE std::string predict_response(const ModelSpec& model, const Response& response) {
  std::string to;
  for (const auto& [name, tensor] : response.outputs) {
    std::string entry;
    io::detail::append_field(entry, 1, name);
    append_tensor(entry, 2, tensor);
    io::detail::append_field(to, 1, entry);
  }
  ModelSpec answered = model;
  answered.version = response.version;
  if (answered.signature.empty()) answered.signature = "serving_default";
  append_model_spec(to, 2, answered);
  return to;
}

}  // namespace TANDEM_NS::serving::impl
