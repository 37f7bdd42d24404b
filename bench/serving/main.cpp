// What a model server costs beside the transport alone: x / 2 + 2 of 3 floats by gRPC and by REST, against servers that
// answer the same bytes without reading them (bare.hpp), in turns.
//   bench_serving [ROUNDS [SECONDS]]   a table of requests per second, their ratio, and resident memory
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/serving/bare.hpp"
#include "bench/serving/load.hpp"
#include "tandem/io/wire.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"
#include "tandem/serving_grpc.hpp"
#include "tandem/tandem.hpp"

namespace {

using namespace tandem;

constexpr const char* predict_path = "/tensorflow.serving.PredictionService/Predict";
constexpr const char* infer_answer =
    R"({"model_name":"half","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[3],"data":[2.5,3.0,4.5]}]})";

std::string predict_request() {
  std::string input, r;
  io::detail::append_field(input, 1, "x");
  serving::impl::append_tensor(input, 2, constant({1.f, 2.f, 5.f}));
  serving::impl::append_model_spec(r, 1, {.name = "half", .signature = ""});
  io::detail::append_field(r, 2, input);
  return r;
}
std::string predict_answer() {
  return serving::impl::predict_response({.name = "half"}, {1, {{"y", constant({2.5f, 3.f, 4.5f})}}});
}
std::string infer_request() {
  const std::string body = R"({"inputs":[{"name":"x","shape":[3],"datatype":"FP32","data":[1.0,2.0,5.0]}]})";
  return "POST /v2/models/half/infer HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
         "application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct Ports {
  int grpc = 0, http = 0;
};
// A server in a process of its own, which ends with this one.
class Process {
 public:
  template <class Serve>
  explicit Process(const Serve& serve) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve([&](const Ports& p) { return ::write(ends[1], &p, sizeof p) == sizeof p; });
      ::_exit(0);
    }
    if (::read(ends[0], &ports_, sizeof ports_) != sizeof ports_) throw std::runtime_error("a server has not started");
  }
  Process(const Process&) = delete;
  ~Process() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  const Ports& ports() const { return ports_; }
  double resident_mb() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
    return 0;
  }

 private:
  pid_t pid_ = 0;
  Ports ports_;
};

template <class Report>
void serve_tandem(const std::string& folder, const Report& report) {
  const Variable a(0.5f), b(2.f);
  const auto f = function([&](const Tensor& x) { return a * x + b; });
  saved_model::save(folder + "/half/1",
                    {{"serving_default", saved_model::predict(f, {{"x", {{none}, float32}}}, {"y"})}});
  serving::Server server({.models = {{.name = "half", .base_path = folder + "/half"}}, .port = 0, .rest_api_port = 0},
                         serving::grpc_listener);
  server.engine().settle();
  if (report({server.port(), server.rest_port()})) ::pause();
}
template <class Report>
void serve_bare(const Report& report) {
  bench::BareGrpc grpc(predict_answer());
  bench::BareHttp http(infer_answer);
  if (report({grpc.port(), http.port()})) ::pause();
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}
template <class A, class B>
void compare(const char* what, int in_flight, int rounds, double seconds, A& ours, B& bare) {
  std::vector<double> mine, theirs, ratios, late;
  for (int i = 0; i < rounds; ++i) {
    const bench::Load first = i % 2 ? bare.run(in_flight, seconds) : ours.run(in_flight, seconds);
    const bench::Load second = i % 2 ? ours.run(in_flight, seconds) : bare.run(in_flight, seconds);
    const bench::Load &m = i % 2 ? second : first, &t = i % 2 ? first : second;
    mine.push_back(m.per_second), theirs.push_back(t.per_second), late.push_back(m.p99_us);
    ratios.push_back(m.per_second / t.per_second);
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print("{:<22} {:>3} in flight: {:>8.0f}/s, bare {:>8.0f}/s, ratio {:.2f} ({:.2f} to {:.2f}), p99 {:.0f} us\n",
             what, in_flight, median(mine), median(theirs), median(ratios), ratios[ratios.size() / 4],
             ratios[ratios.size() * 3 / 4], median(late));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5;
  char folder[] = "/tmp/bench_serving.XXXXXX";
  if (rounds < 1 || seconds <= 0 || !::mkdtemp(folder)) return 2;
  {  // before gRPC has threads here
    const Process ours([&](const auto& report) { serve_tandem(folder, report); });
    const Process bare([&](const auto& report) { serve_bare(report); });
    bench::GrpcLoad our_grpc(ours.ports().grpc, predict_path, predict_request(), predict_answer());
    bench::GrpcLoad bare_grpc(bare.ports().grpc, predict_path, predict_request(), predict_answer());
    const bench::HttpLoad our_http(ours.ports().http, infer_request(), infer_answer);
    const bench::HttpLoad bare_http(bare.ports().http, infer_request(), infer_answer);
    for (const int n : {1, 16, 64}) compare("gRPC Predict", n, rounds, seconds, our_grpc, bare_grpc);
    for (const int n : {1, 16, 64}) compare("REST infer (JSON)", n, rounds, seconds, our_http, bare_http);
    fmt::print("resident: {:.1f} MB, bare {:.1f} MB\n", ours.resident_mb(), bare.resident_mb());
  }
  std::filesystem::remove_all(folder);
  return 0;
}
