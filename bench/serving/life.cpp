// Definitions of life.hpp: the models, and a function for each of the measurements.
#include "bench/serving/life.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/serving/load.hpp"
#include "bench/serving/process.hpp"
#include "bench/serving/requests.hpp"
#include "tandem/serving_grpc.hpp"
#include "tandem/tandem.hpp"

namespace bench {
namespace {

using namespace tandem;
namespace fs = std::filesystem;

// conv 32, conv 64, 1024, 10 on 28 x 28 pixels: 3.3 million weights.
void save_cnn(const std::string& directory) {
  layers::Sequential net{layers::Conv2D(32, 5, nn::relu, {.padding = Padding::same}),
                         layers::MaxPooling2D(),
                         layers::Conv2D(64, 5, nn::relu, {.padding = Padding::same}),
                         layers::MaxPooling2D(),
                         layers::Flatten(),
                         layers::Dense(1024, nn::relu),
                         layers::Dense(10)};
  net.build({none, 28, 28, 1});
  const auto f = function([&](const Tensor& x) { return nn::softmax(net(reshape(x, {-1, 28, 28, 1}))); });
  saved_model::save(directory, {{"serving_default", saved_model::predict(f, {{"x", {{none, 784}, float32}}}, {"y"})}});
}
// 100 MB of weights of which a call reads a row.
void save_large(const std::string& directory) {
  const Variable table(random::normal({25'000, 1'000}), {.name = "table"});
  const auto f = function([&](const Tensor& x) { return gather(table, x); });
  saved_model::save(directory, {{"serving_default", saved_model::predict(f, {{"x", {{none}, int32}}}, {"y"})}});
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}
template <class Work>
double milliseconds(const Work& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}
void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

GrpcLoad cnn_load(const Process& server, const char* name = "cnn") {
  const Tensor pixels = reshape(range(784.f) / 784.f, {1, 784});
  return {server.ports().grpc, predict_path, predict_request(name, pixels), ""};
}
GrpcLoad half_load(const Process& server) {
  return {server.ports().grpc, predict_path, predict_request("half", constant({1.f, 2.f, 5.f})), ""};
}

std::string pixels_as_json() {
  std::string r = "{\"instances\":[[";
  for (int i = 0; i < 784; ++i) r += (i ? "," : "") + fmt::format("{}", static_cast<float>(i) / 784.f);
  return r + "]]}";
}

void measure_batching(const std::string& folder, int rounds, double seconds) {
  const Process plain({"serve", folder, "plain"}), batched({"serve", folder, "batched"});
  GrpcLoad one = cnn_load(plain), many = cnn_load(batched);
  std::vector<double> alone, together, ratios, alone_p99, together_p99;
  for (int i = 0; i < rounds; ++i) {
    const Load a = one.run(64, seconds), b = many.run(64, seconds);
    alone.push_back(a.per_second), together.push_back(b.per_second), ratios.push_back(b.per_second / a.per_second);
    alone_p99.push_back(a.p99_us / 1e3), together_p99.push_back(b.p99_us / 1e3);
  }
  say(fmt::format(
      "MNIST CNN, 64 calls of a row: {:.0f}/s, p99 {:.1f} ms; in batches {:.0f}/s, p99 {:.1f} ms; ratio {:.2f}",
      median(alone), median(alone_p99), median(together), median(together_p99), median(ratios)));
}
// A version as a copy of the first one, which publish() lets appear.
std::string made(const std::string& folder, int version) { return folder + "/made/" + std::to_string(version); }
void make_version(const std::string& folder, const std::string& model, int version) {
  fs::create_directories(folder + "/made");
  fs::copy(folder + "/" + model + "/1", made(folder, version), fs::copy_options::recursive);
}
void publish(const std::string& folder, const std::string& model, int version) {
  fs::rename(made(folder, version), fmt::format("{}/{}/{}", folder, model, version));
}
void measure_swaps(const std::string& folder, int rounds) {
  const Process server({"serve", folder, "plain"});
  int version = 1;
  for (const bool own : {true, false}) {
    GrpcLoad load = own ? cnn_load(server) : half_load(server);
    std::vector<double> quiet, swapping, ratios;
    for (int i = 0; i < rounds; ++i) {
      make_version(folder, "cnn", ++version);
      quiet.push_back(load.run(4, 1).p99_us / 1e3);
      std::thread publishing([&] { publish(folder, "cnn", version); });
      swapping.push_back(load.run(4, 1).p99_us / 1e3);
      publishing.join();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ratios.push_back(swapping.back() / quiet.back());
    }
    say(fmt::format(
        "a new version of the CNN within a second, 4 calls of {}: p99 {:.2f} ms, without {:.2f} ms, ratio {:.2f}",
        own ? "it" : "another model", median(swapping), median(quiet), median(ratios)));
  }
  for (int v = 2; v <= version; ++v) fs::remove_all(folder + "/cnn/" + std::to_string(v));
}
// Three models of equal cost, of which one gets 64 calls at a time where it got one; the others get one each, by
// clients of their own.
void measure_flood(const std::string& folder, int rounds, const char* how) {
  const Process server({"serve", folder, how});
  GrpcLoad flooded = cnn_load(server), second = cnn_load(server, "cnn2"), third = cnn_load(server, "cnn3");
  std::vector<double> calm, flood, ratios, share;
  for (int i = 0; i < rounds; ++i) {
    Load of_flooded, p[2], q[2];
    for (const int calls : {1, 64}) {
      Load* const to = calls == 1 ? p : q;
      std::thread first([&] { of_flooded = flooded.run(calls, 2); });
      std::thread other([&] { to[1] = third.run(1, 2); });
      to[0] = second.run(1, 2);
      first.join(), other.join();
    }
    const double before = std::max(p[0].p99_us, p[1].p99_us) / 1e3, now = std::max(q[0].p99_us, q[1].p99_us) / 1e3;
    calm.push_back(before), flood.push_back(now), ratios.push_back(now / before);
    share.push_back((q[0].per_second + q[1].per_second) / 2 / of_flooded.per_second);
  }
  say(fmt::format(
      "one of three models ({}) gets 64 calls at a time, one before: p99 of the others {:.1f} ms, {:.1f} before, "
      "ratio {:.2f}; calls of each of them over calls of the flooded one: {:.2f}",
      how, median(flood), median(calm), median(ratios), median(share)));
}
void measure_floods_of(const std::string& folder, int rounds) {
  for (const char* other : {"cnn2", "cnn3"})
    fs::copy(folder + "/cnn", folder + "/" + other, fs::copy_options::recursive);
  for (const char* how : {"plain", "batched"}) measure_flood(folder, rounds, how);
}
// 100 MB are loaded while another model answers 4 calls at a time.
void measure_load_beside(const std::string& folder, int rounds) {
  save_large(folder + "/large/1");
  {
    const Process server({"serve", folder, "plain"});
    GrpcLoad load = half_load(server);
    std::vector<double> calm, loading, ratios;
    for (int i = 0; i < rounds; ++i) {
      make_version(folder, "large", i + 2);
      calm.push_back(load.run(4, 1).p99_us / 1e3);
      std::thread publishing([&] { publish(folder, "large", i + 2); });
      loading.push_back(load.run(4, 1).p99_us / 1e3);
      publishing.join();
      fs::remove_all(folder + "/large/" + std::to_string(i + 1));
      ratios.push_back(loading.back() / calm.back());
    }
    say(
        fmt::format("a version of 100 MB is loaded within a second, 4 calls of another model: p99 {:.2f} ms, without "
                    "{:.2f} ms, ratio {:.2f}",
                    median(loading), median(calm), median(ratios)));
  }
  fs::remove_all(folder + "/large");
}
// How the time of a call falls with its rows: what batches can gain.
void measure_rows(const std::string& folder, int rounds) {
  const saved_model::Loaded net = saved_model::load(folder + "/cnn/1");
  std::string text;
  for (const i64 rows : {1, 2, 4, 8, 16, 32, 64}) {
    const Tensor x = broadcast_to(reshape(range(784.f) / 784.f, {1, 784}), {rows, 784});
    std::vector<double> took;
    for (int i = 0; i < 3 * rounds; ++i)
      took.push_back(milliseconds([&] { (void)net("serving_default", {{"x", x}}); }));
    text += fmt::format(" {}: {:.3f}", rows, median(took) / static_cast<double>(rows));
  }
  say("MNIST CNN in this process, milliseconds of a row by rows of a call:" + text);
}
// What the way through a protocol adds to a call, what a server takes for it that reads nothing, and how fast the
// numbers of JSON are read.
void measure_protocols(const std::string& folder, int rounds, double seconds) {
  const saved_model::Loaded net = saved_model::load(folder + "/cnn/1");
  const Process server({"serve", folder, "plain"}), bare({"bare"});
  GrpcLoad grpc = cnn_load(server), bare_grpc = cnn_load(bare);
  const std::string body = pixels_as_json();
  const HttpLoad http(server.ports().http, post_request("/v1/models/cnn:predict", body), "]}");
  const HttpLoad bare_http(bare.ports().http, post_request("/v1/models/cnn:predict", body), infer_answer);
  const Tensor x = reshape(range(784.f) / 784.f, {1, 784});
  std::vector<double> plain, by_grpc, by_http, transport_grpc, transport_http, parsed;
  for (int i = 0; i < rounds; ++i) {
    const int calls = 200;
    plain.push_back(1e3 / calls * milliseconds([&] {
                      for (int k = 0; k < calls; ++k) (void)net("serving_default", {{"x", x}});
                    }));
    by_grpc.push_back(1e6 / grpc.run(1, seconds).per_second - plain.back());
    transport_grpc.push_back(1e6 / bare_grpc.run(1, seconds).per_second);
    by_http.push_back(1e6 / http.run(1, seconds).per_second - plain.back());
    transport_http.push_back(1e6 / bare_http.run(1, seconds).per_second);
    parsed.push_back(static_cast<double>(calls * body.size()) * 1e-3 / milliseconds([&] {
                       for (int k = 0; k < calls; ++k) (void)serving::read_predict(body, net.signatures(), {});
                     }));
  }
  say(fmt::format(
      "MNIST CNN, a row: a call takes {:.0f} us, gRPC adds {:.0f} us (a bare server takes {:.0f}), REST with {:.1f} KB "
      "of JSON {:.0f} us (bare {:.0f}); JSON is read at {:.0f} MB/s",
      median(plain), median(by_grpc), median(transport_grpc), static_cast<double>(body.size()) * 1e-3, median(by_http),
      median(transport_http), median(parsed)));
}
void leave_page_cache(const std::string& directory) {
  for (const auto& file : fs::recursive_directory_iterator(directory)) {
    if (!file.is_regular_file()) continue;
    const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    ::fdatasync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}
void measure_loads(const std::string& folder, int rounds) {
  save_large(folder + "/large/1");
  std::vector<double> cold, mapped;
  for (int i = 0; i < rounds; ++i)
    for (std::vector<double>* to : {&cold, &mapped}) {
      if (to == &cold) leave_page_cache(folder + "/large");
      to->push_back(milliseconds([&] {
        serving::Engine engine({.models = {{.name = "large", .base_path = folder + "/large"}}});
        engine.settle();
        if (!engine.is_ready()) throw std::runtime_error("the large model was not loaded");
      }));
    }
  fs::remove_all(folder + "/large");
  say(fmt::format("a model of 100 MB until it is available: {:.0f} ms from the page cache, {:.0f} ms from the disk",
                  median(mapped), median(cold)));
}
void measure_start(const std::string& folder, int rounds) {
  std::vector<double> start, resident, anonymous;
  for (int i = 0; i < rounds; ++i) {
    std::optional<Process> server;
    start.push_back(milliseconds([&] {
      server.emplace(std::vector<std::string>{"serve", folder + "/small", "plain"});
    }));
    (void)half_load(*server).run(1, 0.2);
    resident.push_back(server->resident_mb()), anonymous.push_back(server->anonymous_mb());
  }
  say(fmt::format(
      "start of the process until the model answers: {:.0f} ms; resident {:.1f} MB, {:.1f} MB of that in no file",
      median(start), median(resident), median(anonymous)));
}
void measure_memory(const std::string& folder) {
  const Process server({"serve", folder + "/small", "plain"});
  GrpcLoad grpc = half_load(server);
  const HttpLoad http(server.ports().http, infer_request(), infer_answer);
  std::size_t grpc_calls = 0, http_calls = 0;
  for (; grpc_calls < 100'000; grpc_calls += grpc.run(16, 1).count) http_calls += http.run(16, 1).count;
  const double before = server.resident_mb();
  for (; grpc_calls + http_calls < 1'100'000; grpc_calls += grpc.run(16, 2).count) http_calls += http.run(16, 2).count;
  say(fmt::format("{} calls by gRPC and {} requests by REST: resident {:.1f} MB, after the first 100,000 {:.1f} MB",
                  grpc_calls, http_calls, server.resident_mb(), before));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const double cpu = server.cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(5));
  say(fmt::format("processor time of 5 idle seconds: {:.0f} ms", 1e3 * (server.cpu_seconds() - cpu)));
}

}  // namespace

void serve_models(const std::string& folder, bool batching) {
  std::vector<serving::ModelConfig> models;
  for (const char* name : {"half", "cnn", "cnn2", "cnn3", "large"})
    if (fs::exists(folder + "/" + name)) models.push_back({.name = name, .base_path = folder + "/" + name});
  serving::Server server({.models = models,
                          .batching = {.enabled = batching},
                          .file_system_poll_wait_seconds = 0.05,
                          .port = 0,
                          .rest_api_port = 0},
                         serving::grpc_listener);
  server.engine().settle();
  Process::report_ports({server.port(), server.rest_port()});
}
void measure_overhead(const std::string& folder, int rounds, double seconds) {
  save_cnn(folder + "/cnn/1");
  measure_rows(folder, rounds);
  measure_protocols(folder, rounds, seconds);
}
void measure_floods(const std::string& folder, int rounds) {
  save_cnn(folder + "/cnn/1");
  measure_floods_of(folder, rounds);
}
void measure_life(const std::string& folder, int rounds, double seconds) {
  save_cnn(folder + "/cnn/1");
  for (const char* place : {"/half/1", "/small/half/1"}) save_half(folder + place);
  measure_start(folder, rounds);
  measure_loads(folder, rounds);
  measure_rows(folder, rounds);
  measure_protocols(folder, rounds, seconds);
  measure_batching(folder, rounds, seconds);
  measure_swaps(folder, rounds);
  measure_load_beside(folder, rounds);
  measure_floods_of(folder, rounds);
  measure_memory(folder);
}

}  // namespace bench
