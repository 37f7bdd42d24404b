// What a model server is told: its models, its limits, where it listens. Names are those of TensorFlow Serving's flags
// where it has them. Part of the component tandem::serving.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/graph/io/serialize.hpp"

namespace TANDEM_NS::serving {

/// Which of the versions in a model's folder are served.
struct VersionPolicy {
  enum Kind { latest, all, specific } kind = latest;
  i64 num_versions = 1;            ///< latest: how many of the newest
  std::vector<i64> versions = {};  ///< specific: these
};

/// How requests for one signature and shape are stacked along their first dimension, and run as one. Only signatures
/// whose inputs and outputs all begin with an unknown dimension are batched, and of those only the ones whose rows,
/// when the version is loaded, give the same alone and stacked.
struct Batching {
  bool enabled = false;
  i64 max_batch_size = 64;
  i64 batch_timeout_micros = 0;  ///< how long the first request waits for others while a thread is free
  /// The sizes that batches have, in ascending order, with .max_batch_size at the end: they are filled up to the next
  /// one by repeating their first row. None: any size.
  std::vector<i64> allowed_batch_sizes = {};
  bool enable_large_batch_splitting = true;  ///< a larger request runs in parts; false: it is refused
  /// Whether requests whose inputs differ in sizes that the signature leaves open run as one batch: their inputs are
  /// padded at the ends with 0, false or the empty text, outputs that have such a size are cut again. Only for
  /// signatures that gave the same with and without padding when the version was loaded. false: one batch has one
  /// shape.
  bool pad_variable_length_inputs = false;
  /// How many batches of .max_batch_size may wait for one signature and shape, besides those that run: a request with
  /// which there would be more rows is refused at once. 0: as many as .max_queue_rows of the Options has.
  i64 max_enqueued_batches = 0;
  /// How many batches run at once, of all models together; calls that are not batched do not count. 0, or more than
  /// .threads of the Options: as many as that. Of fewer there is no spare one for a model of which nothing runs.
  i64 num_batch_threads = 0;

  bool operator==(const Batching&) const = default;
};

struct ModelConfig {
  std::string name;       ///< as clients say it
  std::string base_path;  ///< the folder that has a folder for each version (saved_model::save)
  VersionPolicy policy = {};
  std::map<std::string, i64> version_labels = {};  ///< names for versions; each counts when its version is available
  /// In place of Options::batching, also if that is off, for the versions that are loaded from then on; without
  /// .num_batch_threads, which is that of Options::batching for all models. {{.enabled = true, .max_batch_size = 32}}
  /// batches; Batching(), whose .enabled is false, turns batching off for the model; other options without .enabled are
  /// an error. None: Options::batching.
  std::optional<Batching> batching = {};
};

/// Whether metrics are served, and at which path besides /metrics.
struct Monitoring {
  bool enable = true;
  std::string path = "/monitoring/prometheus/metrics";
};

/// A file of a web page: "/digits.js", "text/javascript; charset=utf-8", and what is in it.
struct WebFile {
  std::string path, type, text;
};

class HttpRoute;
class LogSink;
/// POST requests for this path are answered by code of the program (http_route.hpp).
struct Route {
  std::string path;
  std::shared_ptr<HttpRoute> code;
};

struct Options {
  std::vector<ModelConfig> models;
  /// The ops that models may use besides those of the core without print: {strings::all_ops()}.
  OpLists ops = {};
  Batching batching = {};
  /// Whether versions are batched as a file in their folders says, batching_params.pbtxt (parse_batching). Of .batching
  /// only .enabled and .num_batch_threads count then: what the file leaves out has its default. A version without the
  /// file is batched if its ModelConfig::batching says so; one with a file that is wrong is not loaded. It has no
  /// effect unless .batching is enabled.
  bool enable_per_model_batching_parameters = false;
  /// How often the folders are looked at; 0: only at the start and by reload(). In between, where the system has
  /// inotify, a version that is renamed into a folder, as saved_model::save() does, or removed is noticed at once.
  double file_system_poll_wait_seconds = 1;
  int max_num_load_retries = 5;  ///< of a version that cannot be loaded
  double load_retry_interval_seconds = 10;
  int num_load_threads = 2;         ///< how many models may be loaded at a time; versions of one model never are
  bool enable_model_warmup = true;  ///< whether the saved warm-up records run before a version is available
  /// Whether a new version is loaded before the old one goes, so that both are in memory for a moment, or after it,
  /// when requests fail in between.
  enum Swap { availability, resource } swap = availability;
  /// Bytes of all models together: of their values, and of one call of each, of as many rows as a batch may have
  /// (Loaded::memory_for). A version that does not fit is not loaded; it is asked before anything of it runs. 0: none.
  i64 memory_limit = 0;
  /// How many calls or batches run at once, and one more: of a model of which nothing runs while the calls of others
  /// take all. A batch also waits for one of Batching::num_batch_threads. 0: one a core.
  int threads = 0;

  std::string bind = "127.0.0.1";  ///< the address; another than loopback needs tokens, TLS or .allow_insecure
  int port = 8500;                 ///< of gRPC (serving_grpc.hpp); 0: any that is free (Server::port())
  int rest_api_port = 8501;        ///< 0: any that is free (Server::rest_port())
  double rest_api_timeout_seconds = 30;
  /// Arguments of gRPC's channels, "grpc.max_connection_age_ms=60000,NAME=VALUE", whose values are integers or texts.
  /// One with the name of an argument that the library sets is used in its place, limits too, and must be an integer of
  /// 32 bits; but sizes of messages are those of .max_request_bytes.
  std::string grpc_channel_arguments = {};
  double grpc_message_seconds = 120;  ///< from the begin of a call of gRPC until its message is there
  /// Files that GET answers with in place of the built-in page (read_web_files). Browsers are told to load nothing from
  /// elsewhere, and no scripts and styles that are not files.
  std::vector<WebFile> web_files = {};
  std::vector<Route> routes = {};  ///< beside those of the protocols
  Monitoring monitoring = {};
  bool enable_cors_support = false;  ///< whether pages of other origins may call
  bool ignore_extra_inputs = false;  ///< whether inputs that a signature does not have are passed over, not refused
  /// A line for each token; without a file, everybody is served. A line "admin:TOKEN" is a token that may also change
  /// the configuration.
  std::string auth_token_file = {};
  /// An SSLConfig (parse_ssl_config): with it the server speaks TLS 1.2 or later, on all its ports.
  std::string ssl_config_file = {};
  bool allow_insecure = false;         ///< whether an address that others reach may be served without tokens and TLS
  i64 max_request_bytes = 64 << 20;    ///< of a body, also when it is inflated; of a message of gRPC, answers too
  i64 max_total_body_bytes = 1 << 30;  ///< of all bodies that are read or answered at a time
  i64 max_queue_rows = 4096;           ///< of a model, those that wait and those that run
  i64 max_queue_bytes = 256 << 20;     ///< likewise
  /// Of all models together, likewise; each model has the lesser of its limit and of this one. 0: 65,536 rows and 1
  /// GiB, or the limit of one model if that is more.
  i64 max_total_queue_rows = 0;
  i64 max_total_queue_bytes = 0;
  int max_connections = 1024;
  /// Who is told of requests and of versions that are loaded (log.hpp); null: nobody.
  std::shared_ptr<LogSink> log = {};
  /// A folder that gets a failure file (io/failure_file.hpp) of each request that raises in a model, for which the
  /// model is called once more; the first .most_failure_files of a server, attempts that leave none and files that are
  /// there already included. Without .failure_values, inputs and Variables are left out; the error may quote a value
  /// that a client sent, and constants of the graph stay.
  std::string failure_folder = {};
  int most_failure_files = 20;
  bool failure_values = false;
  double drain_seconds = 5;   ///< after stop(): how long requests are still taken, while is_ready() says no
  double grace_seconds = 30;  ///< and then: how long those that run may take
};

}  // namespace TANDEM_NS::serving
