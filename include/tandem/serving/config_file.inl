// Definitions of serving/config_file.hpp.
#pragma once
#include <charconv>

#include "tandem/base/warning.hpp"
#include "tandem/serving/config_file.hpp"
#include "tandem/serving/text_proto.hpp"

namespace TANDEM_NS::serving {

namespace impl {

// Reads the fields of a file, and says where a wrong one is.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& path) : path_(path) {}

  [[noreturn]] void fail(const TextField& f, const std::string& what) const {
    errors::raise<errors::InvalidArgumentError>("serving", path_ + ":" + std::to_string(f.line) + ": " + what);
  }
  [[noreturn]] void unknown(const TextField& f, const std::string& known) const {
    fail(f, "there is no field '" + f.name + "'; there are: " + known);
  }
  const std::vector<TextField>& message(const TextField& f) const {
    if (!f.is_message) fail(f, f.name + " is a message: " + f.name + " { ... }");
    return f.fields;
  }
  const std::string& text(const TextField& f) const {
    if (f.is_message) fail(f, f.name + " is a text, not a message");
    return f.value;
  }
  i64 integer(const TextField& f) const {
    i64 r = 0;
    const char* const end = f.value.data() + f.value.size();
    const auto [at, error] = std::from_chars(f.value.data(), end, r);
    if (f.is_message || error != std::errc() || at != end) fail(f, f.name + " is an integer, not '" + f.value + "'");
    return r;
  }
  // An integer, or a message with an integer `value`.
  i64 wrapped(const TextField& f) const {
    if (!f.is_message) return integer(f);
    if (f.fields.size() != 1 || f.fields[0].name != "value")
      fail(f, f.name + " is written " + f.name + " { value: 1 }");
    return integer(f.fields[0]);
  }
  i64 positive(const TextField& f) const {
    const i64 r = wrapped(f);
    if (r < 1) fail(f, f.name + " is " + std::to_string(r) + ", but must be positive");
    return r;
  }

  // A bool, or a message with a bool `value`.
  bool flag(const TextField& f) const {
    if (f.is_message && f.fields.size() == 1 && f.fields[0].name == "value") return flag(f.fields[0]);
    for (const char* yes : {"true", "True", "t", "1"})
      if (!f.is_message && f.value == yes) return true;
    for (const char* no : {"false", "False", "f", "0"})
      if (!f.is_message && f.value == no) return false;
    fail(f, f.name + " is true or false, not '" + f.value + "'");
  }

  VersionPolicy policy(const TextField& f) const {
    VersionPolicy r;
    for (const TextField& kind : message(f)) {
      if (kind.name == "latest") {
        r.kind = VersionPolicy::latest;
        for (const TextField& x : message(kind))
          if (x.name == "num_versions") r.num_versions = integer(x);
          else unknown(x, "num_versions");
        if (r.num_versions < 1) fail(kind, "num_versions must be positive");
      } else if (kind.name == "all") {
        r.kind = VersionPolicy::all;
      } else if (kind.name == "specific") {
        r.kind = VersionPolicy::specific;
        for (const TextField& x : message(kind))
          if (x.name == "versions") r.versions.push_back(integer(x));
          else unknown(x, "versions");
      } else {
        unknown(kind, "latest, all, specific");
      }
    }
    return r;
  }
  std::pair<std::string, i64> label(const TextField& f) const {
    std::pair<std::string, i64> r;
    for (const TextField& x : message(f))
      if (x.name == "key") r.first = text(x);
      else if (x.name == "value") r.second = integer(x);
      else unknown(x, "key, value");
    return r;
  }
  ModelConfig model(const TextField& f) const {
    ModelConfig r;
    for (const TextField& x : message(f)) {
      if (x.name == "name") r.name = text(x);
      else if (x.name == "base_path") r.base_path = text(x);
      else if (x.name == "model_version_policy") r.policy = policy(x);
      else if (x.name == "version_labels") {
        if (!r.version_labels.insert(label(x)).second) fail(x, "the label '" + label(x).first + "' is given twice");
      } else if (x.name != "model_platform" && x.name != "model_type")  // there is one kind of models
        unknown(x, "name, base_path, model_platform, model_version_policy, version_labels");
    }
    return r;
  }

 private:
  const std::string& path_;
};

}  // namespace impl

TANDEM_INLINE std::vector<ModelConfig> parse_model_config(std::string_view text, const std::string& path) {
  const impl::ConfigFile file(path);
  std::vector<ModelConfig> r;
  const std::vector<impl::TextField> lists = impl::parse_text_proto(text, path, {"version_labels"});
  if (lists.empty())
    errors::raise<errors::InvalidArgumentError>("serving", path +
                                                               ": it has no model_config_list; for a server without "
                                                               "models write model_config_list {}");
  for (const impl::TextField& list : lists) {
    if (list.name != "model_config_list") file.unknown(list, "model_config_list");
    for (const impl::TextField& config : file.message(list)) {
      if (config.name != "config") file.unknown(config, "config");
      r.push_back(file.model(config));
    }
  }
  return r;
}
TANDEM_INLINE Batching parse_batching(std::string_view text, const std::string& path, Batching b) {
  const impl::ConfigFile file(path);
  for (const impl::TextField& f : impl::parse_text_proto(text, path)) {
    if (f.name == "max_batch_size") b.max_batch_size = file.wrapped(f);
    else if (f.name == "batch_timeout_micros") b.batch_timeout_micros = file.wrapped(f);
    else if (f.name == "allowed_batch_sizes") b.allowed_batch_sizes.push_back(file.integer(f));
    else if (f.name == "enable_large_batch_splitting") b.enable_large_batch_splitting = file.flag(f);
    else if (f.name == "pad_variable_length_inputs") b.pad_variable_length_inputs = file.flag(f);
    else if (f.name == "max_enqueued_batches") b.max_enqueued_batches = file.positive(f);
    else if (f.name == "num_batch_threads") b.num_batch_threads = file.positive(f);
    else if (f.name == "thread_pool_name")
      detail::warn(("serving: " + path + ": " + f.name + " has no meaning here and is passed over").c_str());
    else
      file.unknown(f,
                   "max_batch_size, batch_timeout_micros, allowed_batch_sizes, enable_large_batch_splitting, "
                   "pad_variable_length_inputs, max_enqueued_batches, num_batch_threads");
  }
  return b;
}
TANDEM_INLINE Monitoring parse_monitoring(std::string_view text, const std::string& path) {
  const impl::ConfigFile file(path);
  Monitoring r{.enable = false};
  for (const impl::TextField& f : impl::parse_text_proto(text, path)) {
    if (f.name != "prometheus_config") file.unknown(f, "prometheus_config");
    for (const impl::TextField& x : file.message(f))
      if (x.name == "enable") r.enable = file.flag(x);
      else if (x.name != "path") file.unknown(x, "enable, path");
      else if (!file.text(x).empty()) r.path = x.value;
  }
  return r;
}
TANDEM_INLINE SslConfig parse_ssl_config(std::string_view text, const std::string& path) {
  const impl::ConfigFile file(path);
  SslConfig r;
  for (const impl::TextField& f : impl::parse_text_proto(text, path)) {
    if (f.name == "server_key") r.server_key = file.text(f);
    else if (f.name == "server_cert") r.server_cert = file.text(f);
    else if (f.name == "custom_ca") r.custom_ca = file.text(f);
    else if (f.name == "client_verify") r.client_verify = file.flag(f);
    else file.unknown(f, "server_key, server_cert, custom_ca, client_verify");
  }
  if (r.server_key.empty() || r.server_cert.empty())
    errors::raise<errors::InvalidArgumentError>("serving", path + ": it has no server_key or no server_cert");
  return r;
}

}  // namespace TANDEM_NS::serving
