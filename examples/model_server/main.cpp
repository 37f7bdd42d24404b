// Serves saved models over REST and gRPC, with the flags of tensorflow_model_server where it has them.
//   model_server --model_name half_plus_two --model_base_path $PWD/models/half_plus_two
//   curl -d '{"instances": [1, 2, 5]}' localhost:8501/v1/models/half_plus_two:predict
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <thread>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <tandem/linalg.hpp>
#include <tandem/linalg_op_table.hpp>
#include <tandem/serving.hpp>
#include <tandem/signal.hpp>
#include <tandem/signal_op_table.hpp>
#include <tandem/strings.hpp>
#include <tandem/strings_op_table.hpp>
#ifdef TANDEM_WITH_SERVING_GRPC
#include <tandem/serving_grpc.hpp>
#endif

using namespace tandem;

namespace {

#ifdef TANDEM_WITH_SERVING_GRPC
constexpr bool has_grpc = true;
constexpr serving::MakeListener grpc_listener = serving::grpc_listener;
#else
constexpr bool has_grpc = false;
constexpr serving::MakeListener grpc_listener = nullptr;
#endif

struct Settings {
  serving::ModelConfig model{.name = "default", .base_path = ""};
  std::string config_file, batching_file, monitoring_file, web_root, log = "text", swap = "availability", passed_over;
  int timeout_ms = 30000, grpc_port = 8500, log_every = 1;
  double config_poll = 0;
  bool passed_over_flag = false;
  i64 load_retry_micros = 10'000'000;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad() || text.empty()) throw errors::NotFoundError("model_server", "cannot read " + path);
  return text;
}
// A file that is read again while the server runs.
struct Text {
  std::string path;     // empty: there is none
  std::string applied;  // what counts
  std::string seen;     // the latest one that was looked at: what is wrong with it is said once
};
Text text_of(const std::string& path) {
  const std::string text = path.empty() ? path : read_file(path);
  return {path, text, text};
}
std::vector<serving::ModelConfig> models_of(const Settings& f, const std::string& config) {
  if (f.config_file.empty()) return {f.model};
  return serving::parse_model_config(config, f.config_file);
}
template <class Read>
void attempt(const char* what, const Read& read) {
  try {
    read();
  } catch (const errors::OpError& e) {
    fmt::print(stderr, "model_server: {} stay as they were: {}\n", what, e.what());
  }
}
// Applies the text of a file if it has changed; what gRPC has changed meanwhile stays if it has not.
//   is_asked   also if it is the one that was looked at before
template <class Apply>
void reload(const char* what, Text& text, bool is_asked, const Apply& apply) {
  if (text.path.empty()) return;
  std::ifstream file(text.path);
  std::string seen(std::istreambuf_iterator<char>(file), {});  // empty if it cannot be read
  if (!is_asked && seen == text.seen) return;
  text.seen = std::move(seen);
  attempt(what, [&] {
    std::string now = read_file(text.path);
    if (now == text.applied) return;
    apply(now);
    text.applied = std::move(now);
  });
}
// Waits for the end. Reads again what SIGHUP says, where one file that is wrong does not keep the others from being
// read, and the models and the parameters of batches when their files have changed.
void wait_for_end(const Settings& f, serving::ShutdownSignals& signals, serving::Server& server, Text models,
                  Text batching, const serving::Batching& given) {
  for (;;) {
    const int signal = f.config_poll > 0 ? signals.wait(f.config_poll) : signals.wait();
    if (signal != SIGHUP && signal != 0) return;
    const bool is_asked = signal == SIGHUP;
    if (is_asked) attempt("tokens and certificates", [&] { server.reload_access(); });
    serving::Engine& engine = server.engine();
    reload("models", models, is_asked, [&](const std::string& text) { engine.reload(models_of(f, text)); });
    reload("parameters of batches", batching, is_asked, [&](const std::string& text) {
      engine.set_batching(serving::parse_batching(text, f.batching_file, given));
    });
  }
}

void add_flags(CLI::App& app, Settings& f, serving::Options& o) {
  app.set_version_flag(
      "--version", fmt::format("Tandem {}.{}.{}", TANDEM_VERSION_MAJOR, TANDEM_VERSION_MINOR, TANDEM_VERSION_PATCH));
  app.add_option("--port", f.grpc_port,
                 has_grpc ? "port of gRPC; 0: no gRPC, -1: one that is free" : "passed over: built without gRPC")
      ->capture_default_str();
  app.add_option("--rest_api_port", o.rest_api_port, "port of REST; 0: one that is free")->capture_default_str();
  app.add_option("--bind", o.bind, "address to listen on")->capture_default_str();
  app.add_option("--model_name", f.model.name, "name of the model")->capture_default_str();
  app.add_option("--model_base_path", f.model.base_path, "folder with a folder for each version");
  app.add_option("--model_config_file", f.config_file,
                 "ModelServerConfig as text or JSON, for several models; SIGHUP reads it again if it has changed");
  app.add_option(
         "--model_config_file_poll_wait_seconds", f.config_poll,
         "how often that file and --batching_parameters_file are looked at, and read again if they have changed; "
         "0: at the start")
      ->capture_default_str();
  app.add_option("--file_system_poll_wait_seconds", o.file_system_poll_wait_seconds,
                 "how often the folders are looked at; 0: at the start")
      ->capture_default_str();
  app.add_flag("--enable_batching,!--noenable_batching", o.batching.enabled, "stacks requests that come together");
  app.add_option("--batching_parameters_file", f.batching_file,
                 "BatchingParameters as text or JSON: max_batch_size, batch_timeout_micros, max_enqueued_batches, "
                 "num_batch_threads, allowed_batch_sizes, enable_large_batch_splitting, pad_variable_length_inputs; "
                 "SIGHUP reads it again if it has changed");
  app.add_flag("--enable_per_model_batching_parameters", o.enable_per_model_batching_parameters,
               "with --enable_batching: reads them from batching_params.pbtxt in the folder of a version; one without "
               "the file is not batched; of --batching_parameters_file only num_batch_threads counts");
  app.add_option("--monitoring_config_file", f.monitoring_file,
                 "MonitoringConfig as text or JSON: prometheus_config { enable, path }; metrics are on without it");
  app.add_flag("--enable_model_warmup,!--noenable_model_warmup", o.enable_model_warmup,
               "runs saved requests before a version serves");
  app.add_option("--max_num_load_retries", o.max_num_load_retries, "of a version that cannot be loaded")
      ->capture_default_str();
  app.add_option("--num_load_threads", o.num_load_threads, "models that are loaded at a time")->capture_default_str();
  app.add_option("--load_retry_interval_micros", f.load_retry_micros, "between two of them")->capture_default_str();
  app.add_option("--rest_api_timeout_in_ms", f.timeout_ms, "of a request")->capture_default_str();
  app.add_option("--grpc_channel_arguments", o.grpc_channel_arguments, "of gRPC's channels: NAME=VALUE,NAME=VALUE");
  app.add_option("--grpc_message_seconds", o.grpc_message_seconds, "from the begin of a call to its whole message")
      ->capture_default_str();
  app.add_option("--web_root", f.web_root, "folder of a web page, in place of the built-in one");
  app.add_flag("--rest_api_enable_cors_support", o.enable_cors_support, "lets pages of other origins call");
  app.add_flag("--ignore_extra_inputs", o.ignore_extra_inputs, "passes over inputs that a model does not have");
  app.add_option("--auth_token_file", o.auth_token_file, "a line for each token that clients may send");
  app.add_option("--ssl_config_file", o.ssl_config_file,
                 "SSLConfig as text: TLS for all ports; SIGHUP reads it, and the tokens, again");
  app.add_flag("--allow_insecure", o.allow_insecure, "serves everybody who reaches the address");
}
void add_limits(CLI::App& app, Settings& f, serving::Options& o) {
  app.add_option("--max_request_bytes", o.max_request_bytes, "of a body")
      ->transform(CLI::AsSizeValue(true))
      ->capture_default_str();
  app.add_option("--max_queue_rows", o.max_queue_rows, "of a model")->capture_default_str();
  app.add_option("--max_queue_bytes", o.max_queue_bytes, "of a model")
      ->transform(CLI::AsSizeValue(true))
      ->capture_default_str();
  app.add_option("--max_total_queue_rows", o.max_total_queue_rows, "of all models; 0: 65536, or --max_queue_rows")
      ->capture_default_str();
  app.add_option("--max_total_queue_bytes", o.max_total_queue_bytes, "of all models; 0: 1 GiB, or --max_queue_bytes")
      ->transform(CLI::AsSizeValue(true))
      ->capture_default_str();
  app.add_option("--max_connections", o.max_connections, "at once")->capture_default_str();
  app.add_option("--drain_seconds", o.drain_seconds, "after SIGTERM: how long requests are still taken")
      ->capture_default_str();
  app.add_option("--grace_seconds", o.grace_seconds, "and then: how long those that run may take")
      ->capture_default_str();
  app.add_option("--memory_limit", o.memory_limit, "bytes of all models; 0: none")
      ->transform(CLI::AsSizeValue(true))
      ->capture_default_str();
  app.add_option("--swap", f.swap, "availability: a new version is loaded before the old one goes; resource: after it")
      ->check(CLI::IsMember({"availability", "resource"}))
      ->capture_default_str();
  app.add_option("--failure_folder", o.failure_folder, "gets a file of each request that raises: run_graph --replay");
  app.add_flag("--failure_values", o.failure_values, "with what clients have sent, and with the model's values");
  app.add_option("--log_every", f.log_every, "json: N writes one of every N requests that succeed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(
         "--log", f.log,
         "text: a line on stdout for what happens to versions; json: a line of JSON for that and for each request")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--threads", o.threads, "calls or batches that run at once; 0: one a core")->capture_default_str();
}

// Settings of tensorflow_model_server that have no effect here; those of the second list may stand without a value.
constexpr const char* passed_over[] = {"--grpc_max_threads",
                                       "--grpc_socket_path",
                                       "--mixed_precision",
                                       "--num_request_iterations_for_warmup",
                                       "--num_tflite_interpreters_per_pool",
                                       "--num_tflite_pools",
                                       "--num_unload_threads",
                                       "--per_process_gpu_memory_fraction",
                                       "--platform_config_file",
                                       "--rest_api_num_threads",
                                       "--saved_model_tags",
                                       "--tensorflow_inter_op_parallelism",
                                       "--tensorflow_intra_op_parallelism",
                                       "--tensorflow_session_config_file",
                                       "--tensorflow_session_parallelism",
                                       "--thread_pool_factory_config_file"};
constexpr const char* passed_over_flags[] = {"--allow_version_labels_for_unavailable_models",
                                             "--enable_grpc_healthcheck_service",
                                             "--enable_profiler",
                                             "--enable_serialization_as_tensor_content",
                                             "--enable_signature_method_name_check",
                                             "--flush_filesystem_caches",
                                             "--force_allow_any_version_labels_for_unavailable_models",
                                             "--prefer_tflite_model",
                                             "--remove_unused_fields_from_bundle_metagraph",
                                             "--skip_initialize_tpu",
                                             "--use_alts_credentials",
                                             "--use_tflite_model",
                                             "--xla_cpu_compilation_enabled",
                                             "--xla_gpu_compilation_enabled"};
void pass_over(CLI::App& app, Settings& f) {
  for (const char* name : passed_over) app.add_option(name, f.passed_over, "passed over")->group("");
  for (const char* name : passed_over_flags) app.add_flag(name, f.passed_over_flag, "passed over")->group("");
}
void say_what_is_passed_over(const CLI::App& app, bool is_batched) {
  const auto say_if = [&](const char* name) {
    if (app.count(name)) fmt::print(stderr, "model_server: {} has no effect and is passed over\n", name);
  };
  for (const char* name : passed_over) say_if(name);
  for (const char* name : passed_over_flags) say_if(name);
  for (const char* name : {"--batching_parameters_file", "--enable_per_model_batching_parameters"})
    if (app.count(name) && !is_batched)
      fmt::print(stderr, "model_server: {} has no effect without --enable_batching\n", name);
  if (!has_grpc && app.count("--port")) fmt::print(stderr, "model_server: --port has no effect: built without gRPC\n");
}

// What happens to versions, for people.
struct TextLog final : serving::LogSink {
  bool takes_requests() const noexcept override { return false; }
  void write(const serving::LogEntry& e) noexcept override try {
    const std::string_view event = e.event;
    std::string line = event == "listening" ? e.text : fmt::format("{} {}: {}", e.model, e.version, event);
    if (event == "loaded") line += fmt::format(" in {:.0f} ms", e.seconds * 1e3);
    if (event == "batch_speed") line = fmt::format("{} {}, {}: {}", e.model, e.version, e.signature, e.text);
    if (event == "shutdown" || event == "load_failed") return;  // the library warns of a version that is not loaded
    fmt::print("model_server: {}\n", line);
    std::fflush(stdout);
  } catch (const std::exception&) {  // no memory, or nobody reads
  }
};
// On stdout, in the form of the log.
void say(const serving::Options& o, const std::string& text) {
  serving::LogEntry e;
  e.event = "listening", e.text = text;
  o.log->write(e);
}
void serve(const Settings& f, serving::Options o) {
  std::signal(SIGPIPE, SIG_IGN);  // who reads the log may go
  serving::ShutdownSignals signals;
  const Text models = text_of(f.config_file), batching = text_of(f.batching_file);
  o.models = models_of(f, models.applied);
  o.ops = {linalg::all_ops(), signal::all_ops(), strings::all_ops()};
  const serving::Batching given = o.batching;
  if (!f.batching_file.empty()) o.batching = serving::parse_batching(batching.applied, f.batching_file, given);
  if (!f.monitoring_file.empty())
    o.monitoring = serving::parse_monitoring(read_file(f.monitoring_file), f.monitoring_file);
  if (!f.web_root.empty()) o.web_files = serving::read_web_files(f.web_root);
  o.rest_api_timeout_seconds = f.timeout_ms * 1e-3;
  o.load_retry_interval_seconds = static_cast<double>(f.load_retry_micros) * 1e-6;
  o.swap = f.swap == "resource" ? serving::Options::resource : serving::Options::availability;
  o.port = std::max(f.grpc_port, 0);
  if (f.log == "json") o.log = std::make_shared<serving::JsonLog>(stdout, f.log_every);
  else o.log = std::make_shared<TextLog>();
  serving::Server server(o, f.grpc_port == 0 ? nullptr : grpc_listener);
  say(o, fmt::format("{}://{}:{}", o.ssl_config_file.empty() ? "http" : "https", o.bind, server.rest_port()));
  if (server.port()) say(o, fmt::format("gRPC on {}:{}", o.bind, server.port()));
  wait_for_end(f, signals, server, models, batching, given);
  server.stop();
}

// A server has more threads than cores: they wait for clients and for models. Each would get a heap of its own, up to
// eight a core, of which what one thread has freed does not serve the others.
void limit_heaps() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, static_cast<int>(std::max(2u, std::thread::hardware_concurrency())));
#endif
}

}  // namespace

int main(int argc, char** argv) {
  limit_heaps();
  Settings flags;
  serving::Options options;
  CLI::App app(
      "model_server: serves saved models over REST and gRPC (TensorFlow Serving's and the Open Inference Protocol)");
  add_flags(app, flags, options);
  add_limits(app, flags, options);
  pass_over(app, flags);
  try {
    app.parse(argc, argv);
    say_what_is_passed_over(app, options.batching.enabled);
    if (flags.config_file.empty() && flags.model.base_path.empty())
      throw errors::InvalidArgumentError("model_server", "give --model_base_path, or --model_config_file");
    serve(flags, options);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) ? 2 : 0;
  } catch (const errors::OpError& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
  return 0;
}
