// TensorFlow Serving's configuration files. Part of the component tandem::serving.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving {

/// The models of a ModelServerConfig in protobuf's text format or, if it begins with '{', in JSON:
///
///   model_config_list { config { name: "half" base_path: "/models/half" model_platform: "tandem"
///     model_version_policy { specific { versions: [1, 2] } } version_labels { key: "stable" value: 1 } } }
///
///   {"model_config_list": {"config": [{"name": "half", "base_path": "/models/half",
///     "model_version_policy": {"specific": {"versions": [1, 2]}}, "version_labels": {"stable": 1}}]}}
///
///   path    names the text in errors
///   throws  errors::InvalidArgumentError, with the line, for a text of another format, unknown fields, values that do
///           not fit, and a text without model_config_list
TANDEM_API std::vector<ModelConfig> parse_model_config(std::string_view text, const std::string& path);
/// The BatchingParameters of a text, or of JSON, `max_batch_size { value: 128 } batch_timeout_micros { value: 0 }` and
/// so on, as changes of `batching`. The field that has no meaning here, thread_pool_name, is passed over with a
/// warning.
///   throws  as parse_model_config, and for a max_enqueued_batches or num_batch_threads below 1
TANDEM_API Batching parse_batching(std::string_view text, const std::string& path, Batching batching = {});
/// The MonitoringConfig of a text, `prometheus_config { enable: true path: "/metrics/of/models" }`. As in TensorFlow
/// Serving, a text without `enable: true` says that nothing is told, and one without a path the usual one.
///   throws  as parse_model_config
TANDEM_API Monitoring parse_monitoring(std::string_view text, const std::string& path);
/// The texts of an SSLConfig, each as PEM or as the path of a file that has it.
struct SslConfig {
  std::string server_key, server_cert;
  std::string custom_ca = {};  ///< the authority of the clients' certificates
  bool client_verify = false;  ///< whether clients must show one
};
/// The SSLConfig of a text, `server_key: "-----BEGIN PRIVATE KEY-----\n..." server_cert: "..."`.
///   throws  as parse_model_config, and for a text without server_key or server_cert
TANDEM_API SslConfig parse_ssl_config(std::string_view text, const std::string& path);

}  // namespace TANDEM_NS::serving
