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

GrpcLoad cnn_load(const Process& server) {
  const Tensor pixels = reshape(range(784.f) / 784.f, {1, 784});
  return {server.ports().grpc, predict_path, predict_request("cnn", pixels), ""};
}
GrpcLoad half_load(const Process& server) {
  return {server.ports().grpc, predict_path, predict_request("half", constant({1.f, 2.f, 5.f})), ""};
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
// The next version of the CNN appears.
void publish(const std::string& folder, int version) {
  const std::string made = folder + "/made/" + std::to_string(version);
  fs::create_directories(folder + "/made");
  fs::copy(folder + "/cnn/1", made, fs::copy_options::recursive);
  fs::rename(made, folder + "/cnn/" + std::to_string(version));
}
void measure_swaps(const std::string& folder, int rounds) {
  const Process server({"serve", folder, "plain"});
  int version = 1;
  for (const bool own : {true, false}) {
    GrpcLoad load = own ? cnn_load(server) : half_load(server);
    std::vector<double> quiet, swapping, ratios;
    for (int i = 0; i < rounds; ++i) {
      quiet.push_back(load.run(4, 1).p99_us / 1e3);
      std::thread publishing([&] { publish(folder, ++version); });
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
  for (const char* name : {"half", "cnn"})
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
void measure_life(const std::string& folder, int rounds, double seconds) {
  save_cnn(folder + "/cnn/1");
  for (const char* place : {"/half/1", "/small/half/1"}) save_half(folder + place);
  measure_start(folder, rounds);
  measure_loads(folder, rounds);
  measure_batching(folder, rounds, seconds);
  measure_swaps(folder, rounds);
  measure_memory(folder);
}

}  // namespace bench
