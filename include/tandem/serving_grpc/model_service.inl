// Definitions of serving_grpc/methods.hpp: tensorflow.serving.ModelService, and the metadata of models.
#pragma once
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"
#include "tandem/serving_grpc/methods.hpp"

namespace TANDEM_NS::serving::impl {

// A field that is a map from names to tensorflow.TensorInfo.
TANDEM_INLINE void append_tensor_infos(std::string& to, std::uint32_t field, const std::vector<TensorInfo>& tensors) {
  for (const TensorInfo& t : tensors)
    io::detail::append_message(to, field, [&] {
      io::detail::append_field(to, 1, t.name);
      io::detail::append_message(to, 2, [&] {
        io::detail::append_field(to, 1, t.name);
        io::detail::append_integer(to, 2, io::detail::data_type(t.spec.dtype));
        io::detail::append_message(to, 3, [&] {
          for (int i = 0; i < t.spec.shape.rank(); ++i) {
            const i64 d = t.spec.shape.dim(i);
            io::detail::append_message(to, 2, [&] { io::detail::append_integer(to, 1, d == none ? -1 : d); });
          }
        });
      });
    });
}
TANDEM_INLINE std::string signature_def_map(const std::map<std::string, saved_model::Signature>& signatures) {
  std::string to;
  for (const auto& entry : signatures)
    io::detail::append_message(to, 1, [&] {
      io::detail::append_field(to, 1, entry.first);
      io::detail::append_message(to, 2, [&] {
        append_tensor_infos(to, 1, entry.second.inputs);
        append_tensor_infos(to, 2, entry.second.outputs);
        io::detail::append_field(to, 3, entry.second.method);
      });
    });
  return to;
}

TANDEM_INLINE std::string Methods::model_metadata(std::string_view message, const CallInfo&) const {
  const auto refuse = [](const std::string& what) { errors::raise<errors::InvalidArgumentError>("serving", what); };
  ModelSpec model;
  bool has_field = false;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, io::detail::WireType::bytes)) model = parse_model_spec(in.bytes());
    if (!in.is(2, io::detail::WireType::bytes)) continue;
    if (in.bytes() != "signature_def")
      refuse("Metadata field " + std::string(in.bytes().substr(0, 255)) + " is not supported");
    has_field = true;
  }
  if (!in.ok()) refuse_message("GetModelMetadataRequest");
  if (!has_field) refuse("GetModelMetadataRequest must specify at least one metadata_field");
  i64 version = 0;
  const auto signatures = core_.signatures(model, version);
  std::string to;
  append_model_spec(to, 1, {.name = model.name, .version = version, .signature = model.signature});
  io::detail::append_message(to, 2, [&] {
    io::detail::append_field(to, 1, "signature_def");
    io::detail::append_message(to, 2, [&] {  // google.protobuf.Any
      io::detail::append_field(to, 1, "type.googleapis.com/tensorflow.serving.SignatureDefMap");
      io::detail::append_field(to, 2, signature_def_map(*signatures));
    });
  });
  return to;
}

TANDEM_INLINE void append_status(std::string& to, std::uint32_t field, int code, std::string_view text) {
  io::detail::append_message(to, field, [&] {
    if (code) io::detail::append_integer(to, 1, code);
    if (!text.empty()) io::detail::append_field(to, 2, text);
  });
}
TANDEM_INLINE std::string Methods::model_status(std::string_view message, const CallInfo&) const {
  ModelSpec model;
  io::detail::WireReader in(message);
  while (in.next())
    if (in.is(1, io::detail::WireType::bytes)) model = parse_model_spec(in.bytes());
  if (!in.ok()) refuse_message("GetModelStatusRequest");
  std::string to;
  for (const VersionStatus& s : core_.states(model))
    io::detail::append_message(to, 1, [&] {
      io::detail::append_integer(to, 1, s.version);
      io::detail::append_integer(to, 2, static_cast<int>(s.state));
      append_status(to, 3, s.code, s.error);
    });
  return to;
}

// The parts of a ModelServerConfig.
TANDEM_INLINE VersionPolicy parse_policy(std::string_view message) {
  VersionPolicy r;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(101, io::detail::WireType::bytes)) r = {.kind = VersionPolicy::all};
    const bool is_latest = in.is(100, io::detail::WireType::bytes);
    if (!is_latest && !in.is(102, io::detail::WireType::bytes)) continue;
    r = {.kind = is_latest ? VersionPolicy::latest : VersionPolicy::specific};
    std::string numbers;  // as int64
    io::detail::WireReader kind(in.bytes());
    while (kind.next())
      if (kind.field() == 1) append_values(numbers, int64, kind, "model_version_policy");
    if (!kind.ok()) refuse_message("ServableVersionPolicy");
    for (std::size_t i = 0; i + sizeof(i64) <= numbers.size(); i += sizeof(i64)) {
      i64 n = 0;
      std::memcpy(&n, numbers.data() + i, sizeof n);
      if (is_latest) r.num_versions = n == 0 ? 1 : n;  // 0 is what is not said
      else r.versions.push_back(n);
    }
  }
  if (!in.ok()) refuse_message("ServableVersionPolicy");
  return r;
}
TANDEM_INLINE void parse_version_label(std::string_view message, std::map<std::string, i64>& to) {
  std::string label;
  i64 version = 0;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, io::detail::WireType::bytes)) label = in.bytes();
    else if (in.is(2, io::detail::WireType::varint)) version = static_cast<i64>(in.number());
  }
  if (!in.ok()) refuse_message("ModelConfig");
  to.insert_or_assign(label, version);
}
TANDEM_INLINE ModelConfig parse_model(std::string_view message) {
  ModelConfig r;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, io::detail::WireType::bytes)) r.name = in.bytes();
    else if (in.is(2, io::detail::WireType::bytes)) r.base_path = in.bytes();
    else if (in.is(7, io::detail::WireType::bytes)) r.policy = parse_policy(in.bytes());
    else if (in.is(8, io::detail::WireType::bytes)) parse_version_label(in.bytes(), r.version_labels);
  }
  if (!in.ok()) refuse_message("ModelConfig");
  return r;
}
// The fields 1 of the messages that are field 1 of those that are field 1: the models of a ReloadConfigRequest.
TANDEM_INLINE bool find_models(std::string_view message, int depth, std::vector<ModelConfig>& to) {
  bool has_list = false;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (!in.is(1, io::detail::WireType::bytes)) continue;
    if (depth == 2) to.push_back(parse_model(in.bytes()));
    else has_list = find_models(in.bytes(), depth + 1, to) || has_list;
  }
  if (!in.ok()) refuse_message("ReloadConfigRequest");
  return has_list || depth == 2;
}
TANDEM_INLINE std::string Methods::reload_config(std::string_view message, const CallInfo& call) const {
  std::vector<ModelConfig> models;
  if (!find_models(message, 0, models))
    errors::raise<errors::InvalidArgumentError>("serving", "the ReloadConfigRequest has no model_config_list");
  if (!engine_) errors::raise<errors::UnimplementedError>("serving", "the configuration of the server is fixed");
  engine_->reload(models);
  engine_->settle(call.call);
  std::string to;
  for (const ModelConfig& m : models) {
    if (engine_->is_ready(ModelSpec{.name = m.name})) continue;
    const std::vector<VersionStatus> states = engine_->states({.name = m.name});
    const bool has_error = !states.empty() && !states[0].error.empty();
    append_status(to, 1, has_error ? states[0].code : static_cast<int>(errors::Code::unavailable),
                  "the model " + m.name + " is not available" + (has_error ? ": " + states[0].error : ""));
    return to;
  }
  append_status(to, 1, 0, "");
  return to;
}

}  // namespace TANDEM_NS::serving::impl
