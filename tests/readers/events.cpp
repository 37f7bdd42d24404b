// Writes event files for TensorBoard to read, and reads those of others: see events.py.
//   events write DIR    a run of every kind below DIR
//   events read PATH    what a file or folder has: a line for each value
//   events profile DIR  the profile of three steps, for profile.py
#include <tandem/io.hpp>
#include <tandem/summary.hpp>
#include <tandem/tandem.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <thread>

using namespace tandem;

namespace {

// Numbers 0, 1, 2, ... of this shape, of float64.
Tensor counted(const std::vector<i64>& shape) {
  i64 n = 1;
  for (const i64 d : shape) n *= d;
  return reshape(cast(range(static_cast<int>(n)), float64), shape);
}
Tensor pictures(i64 step) { return cast((counted({4, 8, 10, 3}) * 7.0 + static_cast<double>(step)) % 256.0, uint8); }

void write_values(const std::string& dir, bool simple) {
  const summary::FileWriter writer(dir, {.simple_values = simple});
  const auto scope = writer.as_default();
  for (i64 i = 0; i < 10; ++i) {
    summary::scalar("train/loss", 1.0 / static_cast<double>(i + 1), {.step = i, .description = "the *loss*"});
    summary::scalar("accuracy", 1 - 0.5 / static_cast<double>(i + 1), {.step = i});
    summary::histogram("weights", counted({100}) * (0.1 * static_cast<double>(i + 1)), {.step = i});
    if (i % 3) continue;
    summary::image("pictures", pictures(i), {.step = i});
    summary::image("floats", cast(pictures(i), float32) / 255.f, {.step = i, .max_outputs = 1});
    summary::text("note", "step **" + std::to_string(i) + "**", {.step = i});
    summary::text("table", constant({{"a", "b"}, {"c", "*d*"}}), {.step = i});
    const Tensor wave = (counted({2, 800, 2}) % 97.0) / 97.0 - 0.5;
    summary::audio("tone", wave, 8000, {.step = i});
    const Tensor k = counted({200});
    summary::pr_curve("pr", equal(k % 3.0, 0.0), k * 37.0 % 101.0 / 100.0, {.step = i, .num_thresholds = 51});
  }
  summary::histogram("same", fill({7}, 2.5f), {.step = 0});
  summary::embedding("words", counted({20, 5}) / 7.0, {.labels = std::vector<std::string>(20, "word")});
  summary::embedding("table", counted({3, 2}),
                     {.columns = {"x", "y"}, .metadata = {{"a", "1"}, {"b", "2"}, {"c", "3"}}});
}
void write_graph(const std::string& dir) {
  const Variable w(ones({3, 4}), {.name = "w"});
  const auto f = function([&](const Tensor& x) {
    Tensor h;
    {
      const name_scope dense("dense");
      h = nn::relu(matmul(x, w));
    }
    return cond(
        reduce_sum(h) > 0.f, [&] { return h * 2.f; }, [&] { return h; });
  });
  summary::FileWriter writer(dir, {.graph = f.get_concrete_function(TensorSpec({none, 3}, float32))});
  writer.scalar("x", 1, 0);
}
void write_hparams(const std::string& dir) {
  summary::FileWriter(dir).hparams_config(
      {{"lr", {0.1, 0.01, 0.001}}, {"optimizer", {"adam", "sgd"}}, {"nesterov", {false, true}}},
      {{"accuracy", "Accuracy"}});
  for (int i = 0; i < 4; ++i) {
    summary::FileWriter run(dir + "/run" + std::to_string(i));
    run.hparams({{"lr", i < 2 ? 0.1 : 0.01}, {"optimizer", i % 2 ? "sgd" : "adam"}, {"nesterov", i == 3}},
                {.start_seconds = 1e9 + i});
    run.scalar("accuracy", 0.5 + 0.1 * i, 1);
    run.hparams_end(i == 2 ? summary::Status::failure : summary::Status::success);
  }
}
// A run to step 9 that goes on from step 4.
void write_restart(const std::string& dir) {
  summary::FileWriter first(dir, {.filename_suffix = ".0"}), second(dir, {.filename_suffix = ".1", .restart_step = 4});
  for (i64 i = 0; i < 10; ++i) first.scalar("x", i, i);
  for (i64 i = 4; i < 6; ++i) second.scalar("x", 100 + i, i);
}
void write_profile(const std::string& dir) {
  const Tensor a = ones({200, 300}), b = ones({300, 400});
  Profiler profiler;
  for (int step = 5; step < 8; ++step) {
    const ProfileScope scope("step " + std::to_string(step));
    nn::relu(matmul(a, b, {.name = "product"}));
    if (step == 7) std::thread([&] { matmul(a, b, {.name = "product"}); }).join();
  }
  summary::write_profile(profiler, dir, {.run = "three steps", .host = "box"});
}

struct Print {
  void operator()(double x) const { std::cout << x; }
  void operator()(const summary::Histogram& h) const {
    for (const auto& b : h.buckets) std::cout << b.left << "," << b.right << "," << b.count << " ";
  }
  void operator()(const summary::Images& x) const {
    std::cout << x.width << "x" << x.height;
    for (const std::string& s : x.encoded) std::cout << " " << io::sha256(s);
  }
  void operator()(const summary::Texts& x) const {
    for (const std::string& s : x.texts) std::cout << s << "|";
  }
  void operator()(const summary::Audio& x) const {
    for (const std::string& s : x.encoded) std::cout << io::sha256(s) << " ";
  }
  void operator()(const summary::OtherValue& x) const { std::cout << io::sha256(x.bytes); }
};
void read(const std::string& path) {
  std::cout.precision(17);
  for (const summary::Event& e : summary::read_events(path)) {
    if (!e.graph.empty()) std::cout << "graph " << io::sha256(e.graph) << "\n";
    for (const summary::Value& v : e.values) {
      std::cout << e.step << "\t" << v.tag << "\t" << v.plugin << "\t";
      std::visit(Print(), v.content);
      std::cout << "\n";
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc == 3 ? argv[1] : "", path = argc == 3 ? argv[2] : "";
  try {
    if (command == "write") {
      write_values(path + "/values", false), write_values(path + "/simple", true);
      write_graph(path + "/graph"), write_hparams(path + "/hparams"), write_restart(path + "/restart");
    } else if (command == "profile") {
      write_profile(path);
    } else if (command == "read") {
      read(path);
    } else {
      return std::fputs("usage: events write|read|profile PATH\n", stderr), 2;
    }
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
  return 0;
}
