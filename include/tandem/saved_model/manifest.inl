// Definitions of saved_model/manifest.hpp.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tandem/io/safetensors_format.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/saved_model/manifest.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::saved_model::impl {

TANDEM_INLINE bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name.front() == '/' || name.back() == '/') return false;
  for (const char c : name)
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
          c == '-' || c == '/'))
      return false;
  for (std::size_t at = 0; at <= name.size();) {  // each part of the path
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}
TANDEM_INLINE void raise_damaged_model(const std::string& path, const std::string& what) {
  errors::raise<errors::DataLossError>("saved_model", path + " is damaged: " + what);
}

inline nlohmann::json shape_json(const Shape& shape) {
  nlohmann::json r = nlohmann::json::array();
  for (const i64 d : shape)
    if (d == none) r.push_back(nullptr);
    else r.push_back(d);
  return r;
}
inline nlohmann::json tensor_json(const std::string& name, DType dtype, const Shape& shape) {
  return {{"name", name}, {"dtype", tandem::name(dtype)}, {"shape", shape_json(shape)}};
}
TANDEM_INLINE nlohmann::json tensors_json(const std::vector<TensorInfo>& list) {
  nlohmann::json r = nlohmann::json::array();
  for (const TensorInfo& t : list) r.push_back(tensor_json(t.name, t.spec.dtype, t.spec.shape));
  return r;
}
TANDEM_INLINE nlohmann::json features_json(const io::FeatureConfigs& features) {
  nlohmann::json r = nlohmann::json::array();
  for (const auto& [name, config] : features) {
    nlohmann::json f = tensor_json(name, config.dtype, config.shape);
    if (const Tensor& value = config.default_value; value.is_set()) {
      if (config.dtype == DType::string) f["default"] = value.to_vector<std::string>();
      else if (config.dtype == DType::int64) f["default"] = value.to_vector<i64>();
      else f["default"] = value.to_vector<float>();
    }
    r.push_back(std::move(f));
  }
  return r;
}
TANDEM_INLINE std::string Manifest::json() const try {
  nlohmann::json all{{"format", manifest_format},
                     {"producer", producer},
                     {"signatures", nlohmann::json::object()},
                     {"files", nlohmann::json::object()}};
  for (const auto& [name, entry] : signatures) {
    const Signature& s = entry.signature;
    nlohmann::json& to = all["signatures"][name] = {{"method", s.method},
                                                    {"graph", entry.graph},
                                                    {"inputs", tensors_json(s.inputs)},
                                                    {"outputs", tensors_json(s.outputs)},
                                                    {"batch", s.batch()}};
    if (!s.features.empty()) to["features"] = features_json(s.features);
  }
  for (const auto& [name, file] : files)
    all["files"][name] = {{"bytes", file.bytes}, {"crc32c", io::detail::checksum_text(file.crc32c)}};
  const std::string text = all.dump(1) + "\n";
  if (text.size() > most_manifest_bytes)
    errors::raise<errors::InvalidArgumentError>(
        "saved_model::save", "the manifest takes " + std::to_string(text.size()) + " bytes, above the limit of " +
                                 std::to_string(most_manifest_bytes) + ": names and default values are too many");
  return text;
} catch (const nlohmann::json::exception& e) {
  errors::raise<errors::InvalidArgumentError>("saved_model::save",
                                              std::string("a default value cannot be text of a manifest: ") + e.what());
}

// Reads the JSON of a manifest.
class ManifestReader {
 public:
  explicit ManifestReader(const std::string& path) : path_(path) {}
  Manifest read(std::string_view text) try {
    if (text.size() > most_manifest_bytes)
      damaged("it has " + std::to_string(text.size()) + " bytes, above the limit of " +
              std::to_string(most_manifest_bytes));
    const nlohmann::json all = parsed(text);
    if (const i64 format = integer(all.at("format")); format > manifest_format)
      errors::raise<errors::FailedPreconditionError>(
          "saved_model", path_ + " has format " + std::to_string(format) + ", written by " +
                             tandem::detail::escaped_text(all.at("producer").get<std::string>()) +
                             "; this version reads formats up to " + std::to_string(manifest_format));
    else if (format < 1) damaged("it has format " + std::to_string(format));
    Manifest m;
    m.producer = all.at("producer").get<std::string>();
    for (const auto& [file, entry] : object(all.at("files")).items()) m.files.emplace(name(file), file_entry(entry));
    if (m.files.contains(manifest_file)) damaged("it lists itself");
    for (const auto& [key, entry] : object(all.at("signatures")).items()) {
      signature_ = name(key);
      const auto at = m.signatures.emplace(key, signature(entry)).first;
      if (!m.files.contains(at->second.graph)) damaged("its graph is not among the files");
      if (!graphs_.insert(at->second.graph).second) damaged("another signature has its graph, " + at->second.graph);
      signature_.clear();
    }
    return m;
  } catch (const nlohmann::json::exception& e) {
    damaged(e.what());
  }

 private:
  // Of two equal keys JSON libraries keep one or the other, so that readers would disagree.
  nlohmann::json parsed(std::string_view text) const {
    std::vector<std::set<std::string>> open;
    bool twice = false;
    const auto look = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      using Event = nlohmann::json::parse_event_t;
      if (event == Event::object_start) open.emplace_back();
      else if (event == Event::object_end) open.pop_back();
      else if (event == Event::key) twice |= !open.back().insert(value.get<std::string>()).second;
      return true;
    };
    nlohmann::json all = nlohmann::json::parse(text.begin(), text.end(), look);
    if (twice) damaged("it has a key twice");
    return all;
  }
  static const nlohmann::json& object(const nlohmann::json& j) {
    return j.get_ref<const nlohmann::json::object_t&>(), j;  // raises for another type
  }
  static const nlohmann::json& array(const nlohmann::json& j) { return j.get_ref<const nlohmann::json::array_t&>(), j; }
  i64 integer(const nlohmann::json& j) const {
    if (!j.is_number_integer() || (j.is_number_unsigned() && j.get<u64>() > u64{INT64_MAX}))
      damaged(shown(j) + " is not an integer");
    return j.get<i64>();
  }
  // A value for errors; of lists and objects only what it is, since they may be deep.
  static std::string shown(const nlohmann::json& j) {
    if (j.is_structured()) return std::string("an ") + j.type_name();
    return j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 40);
  }
  std::string name(const std::string& text) const {
    if (!is_valid_name(text))
      damaged("it has the name " + tandem::detail::escaped_text(text.substr(0, 300)) + "; a name is " + name_rule);
    return text;
  }
  FileEntry file_entry(const nlohmann::json& j) const {
    const std::string text = j.at("crc32c").get<std::string>();
    if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != text.npos)
      damaged("a checksum is not 8 hexadecimal digits");
    const i64 bytes = integer(j.at("bytes"));
    if (bytes < 0) damaged("a file has " + std::to_string(bytes) + " bytes");
    return {bytes, static_cast<std::uint32_t>(std::stoul(text, nullptr, 16))};
  }
  DType dtype(const nlohmann::json& j) const {
    const std::string text = j.get<std::string>();
    for (int d = 0; d < dtype_count; ++d)
      if (text == tandem::name(static_cast<DType>(d))) return static_cast<DType>(d);
    damaged("there is no dtype " + tandem::detail::escaped_text(text.substr(0, 40)));
  }
  Shape shape(const nlohmann::json& j) const {
    Shape r;
    if (array(j).size() > static_cast<std::size_t>(max_rank)) damaged("a shape has more than 8 dimensions");
    for (const nlohmann::json& d : j) {
      const i64 size = d.is_null() ? i64{none} : integer(d);
      if (!d.is_null() && size < 0) damaged("a dimension is " + std::to_string(size));
      r.push_back(size);
    }
    return r;
  }
  std::vector<TensorInfo> tensors(const nlohmann::json& j) const {
    std::vector<TensorInfo> r;
    std::set<std::string> names;
    for (const nlohmann::json& t : array(j)) {
      r.push_back({name(t.at("name").get<std::string>()), {shape(t.at("shape")), dtype(t.at("dtype")), {}}});
      if (!names.insert(r.back().name).second) damaged("two tensors of a signature are named '" + r.back().name + "'");
    }
    return r;
  }
  Tensor default_of(const nlohmann::json& j, DType d) const {
    const Shape size{static_cast<i64>(array(j).size())};
    if (d == DType::string) return constant(j.get<std::vector<std::string>>(), {.shape = size});
    if (d == DType::int64) return constant(j.get<std::vector<i64>>(), {.shape = size});
    return constant(j.get<std::vector<float>>(), {.shape = size});
  }
  io::FeatureConfigs features(const nlohmann::json& j) const try {
    io::FeatureConfigs r;
    for (const nlohmann::json& f : array(j)) {
      io::FixedLenFeature feature{shape(f.at("shape")), dtype(f.at("dtype"))};
      if (f.contains("default")) feature.default_value = default_of(f["default"], feature.dtype);
      r.emplace_back(f.at("name").get<std::string>(), feature);
    }
    const io::ExampleParser checked(r);
    return r;
  } catch (const errors::InvalidArgumentError& e) {
    damaged(e.message());
  }
  Manifest::Entry signature(const nlohmann::json& j) const {
    Manifest::Entry e;
    Signature& s = e.signature;
    s.method = j.at("method").get<std::string>();
    if (s.method != predict_method && s.method != classify_method && s.method != regress_method)
      damaged("there is no method " + tandem::detail::escaped_text(s.method.substr(0, 100)));
    e.graph = name(j.at("graph").get<std::string>());
    s.inputs = tensors(j.at("inputs"));
    s.outputs = tensors(j.at("outputs"));
    if (j.contains("features")) s.features = features(j["features"]);
    const bool takes_examples = s.inputs.size() == 1 && s.inputs[0].spec.dtype == DType::string;
    if ((s.method != predict_method) != !s.features.empty() || (!s.features.empty() && !takes_examples))
      damaged("a signature of method " + s.method + " must" + (s.method == predict_method ? " not" : "") +
              " have features");
    if (j.at("batch").get<bool>() && !s.batch()) damaged("a signature is batched, and has a tensor that is not");
    return e;
  }
  [[noreturn]] void damaged(const std::string& what) const {
    raise_damaged_model(path_, signature_.empty() ? what : "the signature '" + signature_ + "': " + what);
  }

  const std::string& path_;
  std::string signature_;  // which is being read
  std::set<std::string> graphs_;
};

TANDEM_INLINE Manifest Manifest::parse(std::string_view text, const std::string& path) {
  return ManifestReader(path).read(text);
}

}  // namespace TANDEM_NS::saved_model::impl
