// What a model server costs beside the transport alone: x / 2 + 2 of 3 floats by gRPC and by REST, against servers that
// answer the same bytes without reading them (bare.hpp), in turns.
//   bench_serving [ROUNDS [SECONDS]]        a table of requests per second, their ratio, and resident memory
//   bench_serving life [ROUNDS [SECONDS]]   what is more than a request (life.hpp)
//   bench_serving overhead [ROUNDS [SECONDS]]   of that, what protocols add to a call, and JSON
//   bench_serving flood [ROUNDS]            of that, what a model that many ask for does to the others
//   bench_serving peer GRPC_PORT REST_PORT  beside a server of the Open Inference Protocol that has the model "half"
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "bench/serving/bare.hpp"
#include "bench/serving/life.hpp"
#include "bench/serving/load.hpp"
#include "bench/serving/process.hpp"
#include "bench/serving/requests.hpp"

namespace {

using bench::Process;

std::string predict_answer() {
  using tandem::constant;
  return tandem::serving::impl::predict_response({.name = "half"}, {1, {{"y", constant({2.5f, 3.f, 4.5f})}}});
}
void serve_bare() {
  bench::BareGrpc grpc(predict_answer());
  bench::BareHttp http(bench::infer_answer);
  Process::report_ports({grpc.port(), http.port()});
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}
template <class A, class B>
void compare(const char* what, int in_flight, int rounds, double seconds, A& ours, B& bare,
             const char* other = "bare") {
  std::vector<double> mine, theirs, ratios, late, their_late;
  for (int i = 0; i < rounds; ++i) {
    const bench::Load first = i % 2 ? bare.run(in_flight, seconds) : ours.run(in_flight, seconds);
    const bench::Load second = i % 2 ? ours.run(in_flight, seconds) : bare.run(in_flight, seconds);
    const bench::Load &m = i % 2 ? second : first, &t = i % 2 ? first : second;
    mine.push_back(m.per_second), theirs.push_back(t.per_second), late.push_back(m.p99_us);
    their_late.push_back(t.p99_us);
    ratios.push_back(m.per_second / t.per_second);
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print(
      "{:<22} {:>3} in flight: {:>8.0f}/s, {} {:>8.0f}/s, ratio {:.2f} ({:.2f} to {:.2f}), p99 {:.0f} us, {} {:.0f} "
      "us\n",
      what, in_flight, median(mine), other, median(theirs), median(ratios), ratios[ratios.size() / 4],
      ratios[ratios.size() * 3 / 4], median(late), other, median(their_late));
  std::fflush(stdout);
}

void measure_requests(const std::string& folder, int rounds, double seconds) {
  bench::save_half(folder + "/half/1");
  const Process ours({"serve", folder, "plain"}), bare({"bare"});
  const std::string request = bench::predict_request("half", tandem::constant({1.f, 2.f, 5.f}));
  bench::GrpcLoad our_grpc(ours.ports().grpc, bench::predict_path, request, predict_answer());
  bench::GrpcLoad bare_grpc(bare.ports().grpc, bench::predict_path, request, predict_answer());
  const bench::HttpLoad our_http(ours.ports().http, bench::infer_request(), bench::infer_answer);
  const bench::HttpLoad bare_http(bare.ports().http, bench::infer_request(), bench::infer_answer);
  for (const int n : {1, 16, 64}) compare("gRPC Predict", n, rounds, seconds, our_grpc, bare_grpc);
  for (const int n : {1, 16, 64}) compare("REST infer (JSON)", n, rounds, seconds, our_http, bare_http);
  fmt::print("resident: {:.1f} MB, bare {:.1f} MB\n", ours.resident_mb(), bare.resident_mb());
}

// Beside a server of the Open Inference Protocol, such as Triton, which runs already and has the model "half".
void measure_peer(const std::string& folder, int grpc, int http, int rounds, double seconds) {
  bench::save_half(folder + "/half/1");
  const Process ours({"serve", folder, "plain"});
  const std::string request = bench::model_infer_request(), last = "[2.5,3.0,4.5]}]}";
  bench::GrpcLoad our_grpc(ours.ports().grpc, bench::model_infer_path, request, "");
  bench::GrpcLoad its_grpc(grpc, bench::model_infer_path, request, "");
  const bench::HttpLoad our_http(ours.ports().http, bench::infer_request(), last);
  const bench::HttpLoad its_http(http, bench::infer_request(), last);
  for (const int n : {1, 16, 64}) compare("gRPC ModelInfer", n, rounds, seconds, our_grpc, its_grpc, "peer");
  for (const int n : {1, 16, 64}) compare("REST infer (JSON)", n, rounds, seconds, our_http, its_http, "peer");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "serve" && argc > 3) return bench::serve_models(argv[2], std::string_view(argv[3]) == "batched"), 0;
  if (what == "bare") return serve_bare(), 0;
  const bool is_peer = what == "peer" && argc > 3;
  const int first = is_peer ? 4 : what == "life" || what == "overhead" || what == "flood" ? 2 : 1;
  const int rounds = argc > first ? std::atoi(argv[first]) : 11;
  const double seconds = argc > first + 1 ? std::atof(argv[first + 1]) : 0.5;
  char folder[] = "/tmp/bench_serving.XXXXXX";
  if (rounds < 1 || seconds <= 0 || !::mkdtemp(folder)) return 2;
  if (is_peer) measure_peer(folder, std::atoi(argv[2]), std::atoi(argv[3]), rounds, seconds);
  else if (what == "overhead") bench::measure_overhead(folder, rounds, seconds);
  else if (what == "flood") bench::measure_floods(folder, rounds);
  else if (what == "life") bench::measure_life(folder, rounds, seconds);
  else measure_requests(folder, rounds, seconds);
  std::filesystem::remove_all(folder);
  return 0;
}
