// Definitions of serving_grpc/methods.hpp: inference.GRPCInferenceService, the Open Inference Protocol.
#pragma once
#include <algorithm>
#include <charconv>
#include <optional>

#include "tandem/serving/infer_tensor.hpp"
#include "tandem/serving/json_infer.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"
#include "tandem/serving_grpc/methods.hpp"

namespace TANDEM_NS::serving::impl {

[[noreturn]] TANDEM_INLINE void refuse_inference(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("serving", what);
}

// A model by name and version, which is empty or a number.
TANDEM_INLINE ModelSpec infer_model(std::string_view name, std::string_view version) {
  ModelSpec r{.name = std::string(name)};
  if (version.empty()) return r;
  i64 n = 0;
  const std::from_chars_result read = std::from_chars(version.data(), version.data() + version.size(), n);
  if (read.ec != std::errc() || read.ptr != version.data() + version.size() || n < 1)
    refuse_inference("the version '" + std::string(version.substr(0, 40)) + "' is not a number");
  r.version = n;
  return r;
}
TANDEM_INLINE ModelSpec parse_infer_model(std::string_view message, const char* what) {
  std::string_view name, version;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, io::detail::WireType::bytes)) name = in.bytes();
    else if (in.is(2, io::detail::WireType::bytes)) version = in.bytes();
  }
  if (!in.ok()) refuse_message(what);
  return infer_model(name, version);
}
TANDEM_INLINE std::string flag_response(bool flag) {
  std::string r;
  if (flag) io::detail::append_integer(r, 1, 1);
  return r;
}

TANDEM_INLINE std::string Methods::server_live(std::string_view, const CallInfo&) const { return flag_response(true); }
TANDEM_INLINE std::string Methods::server_ready(std::string_view, const CallInfo&) const {
  return flag_response(core_.is_ready());
}
TANDEM_INLINE std::string Methods::model_ready(std::string_view message, const CallInfo&) const {
  return flag_response(core_.is_ready(parse_infer_model(message, "ModelReadyRequest")));
}
TANDEM_INLINE std::string Methods::server_metadata(std::string_view, const CallInfo&) const {
  std::string r;
  io::detail::append_field(r, 1, "tandem");
  io::detail::append_field(r, 2,
                           TANDEM_STRINGIFY(TANDEM_VERSION_MAJOR) "." TANDEM_STRINGIFY(
                               TANDEM_VERSION_MINOR) "." TANDEM_STRINGIFY(TANDEM_VERSION_PATCH));
  return r;
}

TANDEM_INLINE void append_shape(std::string& to, std::uint32_t field, const Shape& shape) {
  std::string packed;
  for (const i64 d : shape) io::detail::append_varint(packed, static_cast<u64>(d == none ? -1 : d));
  if (!packed.empty()) io::detail::append_field(to, field, packed);
}
TANDEM_INLINE void append_tensor_metadata(std::string& to, std::uint32_t field, const std::vector<TensorInfo>& all) {
  for (const TensorInfo& t : all)
    io::detail::append_message(to, field, [&] {
      io::detail::append_field(to, 1, t.name);
      const char* const datatype = infer_datatype(t.spec.dtype);
      io::detail::append_field(to, 2, datatype ? datatype : name(t.spec.dtype));
      append_shape(to, 3, t.spec.shape);
    });
}
TANDEM_INLINE std::string Methods::infer_metadata(std::string_view message, const CallInfo&) const {
  const ModelSpec model = parse_infer_model(message, "ModelMetadataRequest");
  i64 version = 0;
  const auto signatures = core_.signatures(model, version);
  std::vector<i64> versions;
  for (const VersionStatus& s : core_.states(model))
    if (s.state == State::available) versions.push_back(s.version);
  std::sort(versions.begin(), versions.end());
  std::string r;
  io::detail::append_field(r, 1, model.name);
  for (const i64 v : versions) io::detail::append_field(r, 2, std::to_string(v));
  io::detail::append_field(r, 3, "tandem");
  const auto found = signatures->find("serving_default");
  const auto at = found == signatures->end() ? signatures->begin() : found;
  if (at == signatures->end()) return r;
  append_tensor_metadata(r, 4, at->second.inputs);
  append_tensor_metadata(r, 5, at->second.outputs);
  return r;
}

// A ModelInferRequest. Refers to the message.
struct InferMessage {
  std::string_view name, version, id;
  std::vector<std::string_view> inputs, raw;
  std::vector<std::string> outputs;
};

// Parameters that would change what an answer is are refused; others, such as binary_data, mean nothing here.
TANDEM_INLINE void check_parameter(std::string_view entry) {
  io::detail::WireReader in(entry);
  std::string_view key;
  while (in.next())
    if (in.is(1, io::detail::WireType::bytes)) key = in.bytes();
  if (!in.ok()) refuse_message("map of parameters");
  if (key == "classification" || key.starts_with("shared_memory_"))
    errors::raise<errors::UnimplementedError>("serving", "the parameter '" + std::string(key) + "' is not supported");
}
TANDEM_INLINE std::string parse_requested_output(std::string_view message) {
  std::string name;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, io::detail::WireType::bytes)) name = in.bytes();
    else if (in.is(2, io::detail::WireType::bytes)) check_parameter(in.bytes());
  }
  if (!in.ok()) refuse_message("InferRequestedOutputTensor");
  return name;
}
TANDEM_INLINE InferMessage parse_infer_message(std::string_view message) {
  InferMessage r;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.type() != io::detail::WireType::bytes) continue;
    switch (in.field()) {
      case 1: r.name = in.bytes(); break;
      case 2: r.version = in.bytes(); break;
      case 3: r.id = in.bytes(); break;
      case 5: r.inputs.push_back(in.bytes()); break;
      case 6: r.outputs.push_back(parse_requested_output(in.bytes())); break;
      case 7: r.raw.push_back(in.bytes()); break;
      default: break;
    }
  }
  if (!in.ok()) refuse_message("ModelInferRequest");
  return r;
}

// The number in InferTensorContents of the values of a dtype; 0 for the types that are sent as bytes only.
TANDEM_INLINE std::uint32_t contents_field(DType d) {
  switch (d) {
    case DType::bool_: return 1;
    case DType::int8:
    case DType::int16:
    case DType::int32: return 2;
    case DType::int64: return 3;
    case DType::uint8:
    case DType::uint16:
    case DType::uint32: return 4;
    case DType::uint64: return 5;
    case DType::float32: return 6;
    case DType::float64: return 7;
    case DType::string: return 8;
    default: return 0;
  }
}
TANDEM_INLINE void append_length(std::string& to, std::size_t n) {
  for (int k = 0; k < 4; ++k) to += static_cast<char>(n >> (8 * k) & 0xff);
}
// Whether a number of int_contents or uint_contents fits a narrower dtype. Those of int32 come with 64 or 32 bits.
TANDEM_INLINE bool fits_dtype(DType d, u64 x) {
  const auto n = static_cast<i64>(x);
  const bool is_int32 = n >= INT32_MIN && n <= i64{UINT32_MAX};
  const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(x));
  switch (d) {
    case DType::int8: return is_int32 && low >= INT8_MIN && low <= INT8_MAX;
    case DType::int16: return is_int32 && low >= INT16_MIN && low <= INT16_MAX;
    case DType::int32: return is_int32;
    case DType::uint8: return x <= UINT8_MAX;
    case DType::uint16: return x <= UINT16_MAX;
    case DType::uint32: return x <= UINT32_MAX;
    default: return true;
  }
}
TANDEM_INLINE void check_numbers(const InferTensor& input, const io::detail::WireReader& in) {
  const auto check = [&](u64 x) {
    if (!fits_dtype(*input.dtype, x))
      input.fail("has a number that " + std::string(infer_datatype(*input.dtype)) + " cannot hold");
  };
  if (in.type() == io::detail::WireType::varint) return check(in.number());
  if (in.type() != io::detail::WireType::bytes) return;  // append_values refuses it
  u64 x = 0;
  for (std::string_view left = in.bytes(); !left.empty() && io::detail::read_varint(left, x);) check(x);
}
// The values of an InferTensorContents, as raw_input_contents would have them.
TANDEM_INLINE std::string parse_contents(const InferTensor& input, std::string_view message) {
  const std::uint32_t field = contents_field(*input.dtype);
  if (field == 0) input.fail(std::string("is ") + infer_datatype(*input.dtype) + ", which needs raw_input_contents");
  std::string r;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.field() > 8) continue;  // of a later protocol
    if (in.field() != field) input.fail("has contents of another datatype");
    if (*input.dtype == DType::string) {
      if (in.type() != io::detail::WireType::bytes) input.fail("has contents of another datatype");
      append_length(r, in.bytes().size());
      r += in.bytes();
    } else {
      if (is_integer(*input.dtype)) check_numbers(input, in);
      append_values(r, *input.dtype, in, "the input '" + input.name + "'");
    }
  }
  if (!in.ok()) refuse_message("InferTensorContents");
  return r;
}
TANDEM_INLINE void push_sizes(InferTensor& input, const io::detail::WireReader& in) {
  const auto push = [&](u64 d) {
    if (input.shape->rank() == max_rank)
      input.fail("has a shape of more than " + std::to_string(max_rank) + " dimensions");
    if (static_cast<i64>(d) < 0) input.fail("has a shape with a negative size");
    input.shape->push_back(static_cast<i64>(d));
  };
  if (in.type() == io::detail::WireType::varint) return push(in.number());
  if (in.type() != io::detail::WireType::bytes) input.fail("has a shape that is damaged");
  for (std::string_view left = in.bytes(); !left.empty();) {
    u64 d = 0;
    if (!io::detail::read_varint(left, d)) input.fail("has a shape that is damaged");
    push(d);
  }
}
struct ParsedInput {
  InferTensor spec;
  std::optional<std::string_view> contents = {};
};
TANDEM_INLINE ParsedInput parse_infer_input(std::string_view message) {
  ParsedInput r;
  r.spec.shape.emplace();
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, io::detail::WireType::bytes)) r.spec.name = in.bytes();
    else if (in.is(2, io::detail::WireType::bytes)) {
      r.spec.dtype = dtype_of_infer(in.bytes());
      if (!r.spec.dtype) r.spec.fail("has the unknown datatype " + std::string(in.bytes().substr(0, 40)));
    } else if (in.field() == 3) push_sizes(r.spec, in);
    else if (in.is(4, io::detail::WireType::bytes)) check_parameter(in.bytes());
    else if (in.is(5, io::detail::WireType::bytes)) r.contents = in.bytes();
  }
  if (!in.ok()) refuse_message("InferInputTensor");
  if (!r.spec.dtype) r.spec.fail("has no datatype");
  return r;
}
TANDEM_INLINE NamedTensors infer_inputs(const InferMessage& m) {
  NamedTensors r;
  if (!m.raw.empty() && m.raw.size() != m.inputs.size())
    refuse_inference("there are " + std::to_string(m.inputs.size()) + " inputs, but " + std::to_string(m.raw.size()) +
                     " raw_input_contents");
  for (std::size_t i = 0; i < m.inputs.size(); ++i) {
    const ParsedInput input = parse_infer_input(m.inputs[i]);
    if (!m.raw.empty() && input.contents && !input.contents->empty())
      input.spec.fail("has contents, and there are raw_input_contents");
    const Tensor t = m.raw.empty() ? binary_tensor(input.spec, parse_contents(input.spec, input.contents.value_or("")))
                                   : binary_tensor(input.spec, m.raw[i]);
    if (!r.emplace(input.spec.name, t).second) input.spec.fail("is there twice");
  }
  return r;
}

// Appends an output, and to `raw` its bytes as a field.
TANDEM_INLINE void append_infer_output(std::string& to, std::string& raw, const std::string& name, const Tensor& x) {
  const Tensor t = x.cpu();
  const char* const datatype = infer_datatype(t.dtype());
  if (!datatype)
    errors::raise<errors::UnimplementedError>("serving", "the output '" + name + "' is " + tandem::name(t.dtype()) +
                                                             ", which the Open Inference Protocol does not have");
  io::detail::append_message(to, 5, [&] {
    io::detail::append_field(to, 1, name);
    io::detail::append_field(to, 2, datatype);
    append_shape(to, 3, t.shape());
  });
  if (t.dtype() == DType::string) {
    std::string bytes;
    append_binary(bytes, t);
    io::detail::append_field(raw, 6, bytes);
    return;
  }
  io::detail::append_tag(raw, 6, io::detail::WireType::bytes);
  io::detail::append_varint(raw, t.spec().bytes());
  append_binary(raw, t);
}
TANDEM_INLINE std::string Methods::infer(std::string_view message, const CallInfo& call) const {
  const InferMessage m = parse_infer_message(message);
  const Request r{.model = infer_model(m.name, m.version),
                  .inputs = infer_inputs(m),
                  .outputs = m.outputs,
                  .call = call.call,
                  .protocol = "grpc"};
  const Response response = ask(r);
  std::string to, raw;
  const auto append = [&](const std::string& name, const Tensor& t) {
    append_infer_output(to, raw, name, t);
    if (to.size() + raw.size() > static_cast<std::size_t>(most_bytes_))
      errors::raise<errors::ResourceExhaustedError>(
          "serving", "the answer takes more than " + std::to_string(most_bytes_) + " bytes (--max_request_bytes)");
  };
  io::detail::append_field(to, 1, m.name);
  io::detail::append_field(to, 2, std::to_string(response.version));
  if (!m.id.empty()) io::detail::append_field(to, 3, m.id);
  if (m.outputs.empty()) {
    for (const auto& output : response.outputs) append(output.first, output.second);
  } else {
    for (const std::string& name : m.outputs) {
      const auto at = response.outputs.find(name);
      if (at == response.outputs.end()) refuse_inference("output tensor alias not found in signature: " + name);
      append(name, at->second);
    }
  }
  to += raw;
  return to;
}

}  // namespace TANDEM_NS::serving::impl
