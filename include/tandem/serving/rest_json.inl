// Definitions of serving/rest_json.hpp.
#pragma once
#include "tandem/serving/json_infer.hpp"
#include "tandem/serving/json_write.hpp"
#include "tandem/serving/rest_json.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE std::string error_json(const std::string& text) {
  std::string r = "{\"error\":";
  append_json_text(r, text);
  return r + '}';
}

TANDEM_INLINE std::string states_json(const std::vector<VersionStatus>& states) {
  std::string r = "{\"model_version_status\":[";
  for (const VersionStatus& s : states) {
    if (r.back() == '}') r += ',';
    r += "{\"version\":\"" + std::to_string(s.version) + "\",\"state\":\"" + name_of(s.state) +
         "\",\"status\":{\"error_code\":\"" + code_name(s.code) + "\",\"error_message\":";
    append_json_text(r, s.error);
    r += "}}";
  }
  return r + "]}";
}

// The name in tensorflow.DataType.
TANDEM_INLINE const char* tensorflow_name(DType d) {
  static constexpr const char* names[dtype_count] = {
      "DT_FLOAT",  "DT_DOUBLE",     "DT_INT8",      "DT_INT16",  "DT_INT32",    "DT_INT64",  "DT_UINT8",
      "DT_BOOL",   "DT_STRING",     "DT_COMPLEX64", "DT_HALF",   "DT_BFLOAT16", "DT_UINT16", "DT_UINT32",
      "DT_UINT64", "DT_COMPLEX128", "DT_QINT8",     "DT_QUINT8", "DT_QINT32"};
  return names[static_cast<int>(d)];
}
TANDEM_INLINE void append_tensor_infos(std::string& to, const std::vector<TensorInfo>& tensors) {
  to += '{';
  for (const TensorInfo& t : tensors) {
    if (to.back() == '}') to += ',';
    append_json_text(to, t.name);
    to += std::string(":{\"dtype\":\"") + tensorflow_name(t.spec.dtype) + "\",\"tensor_shape\":{\"dim\":[";
    for (int i = 0; i < t.spec.shape.rank(); ++i) {
      const i64 d = t.spec.shape.dim(i);
      to += (i ? ",{\"size\":\"" : "{\"size\":\"") + std::to_string(d == none ? -1 : d) + "\",\"name\":\"\"}";
    }
    to += "],\"unknown_rank\":false},\"name\":";
    append_json_text(to, t.name);
    to += '}';
  }
  to += '}';
}
TANDEM_INLINE std::string metadata_json(const std::string& model, i64 version,
                                        const std::map<std::string, saved_model::Signature>& signatures) {
  std::string r = "{\"model_spec\":{\"name\":";
  append_json_text(r, model);
  r += ",\"signature_name\":\"\",\"version\":\"" + std::to_string(version) +
       "\"},\"metadata\":{\"signature_def\":{\"signature_def\":{";
  const char* comma = "";
  for (const auto& [name, s] : signatures) {
    append_json_text(r += comma, name);
    append_tensor_infos(r += ":{\"inputs\":", s.inputs);
    append_tensor_infos(r += ",\"outputs\":", s.outputs);
    append_json_text(r += ",\"method_name\":", s.method);
    r += '}';
    comma = ",";
  }
  return r + "}}}}";
}

TANDEM_INLINE void append_infer_tensors(std::string& to, const std::vector<TensorInfo>& tensors) {
  to += '[';
  for (const TensorInfo& t : tensors) {
    if (to.back() == '}') to += ',';
    append_json_text(to += "{\"name\":", t.name);
    const char* const datatype = infer_datatype(t.spec.dtype);
    append_json_text(to += ",\"datatype\":", datatype ? datatype : name(t.spec.dtype));
    to += ",\"shape\":[";
    for (int i = 0; i < t.spec.shape.rank(); ++i) {
      const i64 d = t.spec.shape.dim(i);
      to += (i ? "," : "") + std::to_string(d == none ? -1 : d);
    }
    to += "]}";
  }
  to += ']';
}
TANDEM_INLINE std::string infer_metadata_json(const std::string& model, const std::vector<i64>& versions,
                                              const std::map<std::string, saved_model::Signature>& signatures) {
  const auto found = signatures.find("serving_default");
  const auto at = found == signatures.end() ? signatures.begin() : found;
  std::string r = "{\"name\":";
  append_json_text(r, model);
  r += ",\"versions\":[";
  for (std::size_t i = 0; i < versions.size(); ++i) r += (i ? ",\"" : "\"") + std::to_string(versions[i]) + '"';
  r += "],\"platform\":\"tandem\"";
  if (at != signatures.end()) {
    append_infer_tensors(r += ",\"inputs\":", at->second.inputs);
    append_infer_tensors(r += ",\"outputs\":", at->second.outputs);
  }
  return r + '}';
}

}  // namespace TANDEM_NS::serving::impl
