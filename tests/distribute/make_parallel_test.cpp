// make_parallel and make_parallel_mean: slices of equal and other sizes, eager, traced and under tapes, on two devices,
// with structs of tensors, and wrong arguments.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>

#include "tandem/distribute/make_parallel.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/threads.hpp"

namespace make_parallel_test {
using namespace tandem;
using distribute::make_parallel;
using distribute::make_parallel_mean;

std::vector<float> floats(const Tensor& t) { return t.cpu().to_vector<float>(); }
void check_close(const Tensor& a, const Tensor& b, double tolerance = 1e-6) {
  REQUIRE(a.shape() == b.shape());
  const std::vector<float> x = floats(a), y = floats(b);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).epsilon(tolerance).margin(tolerance));
}

// The polynomial 5 x^2 + 3, fitted by three weights: features [rows, 3], values [rows, 1].
struct Points {
  Tensor x, y;
};
Points points(i64 rows) {
  const Tensor x = random::stateless_uniform({rows, 1}, {5, 6}, {.minval = -1, .maxval = 1});
  return {concat({square(x), x, ones_like(x)}, 1), 5 * square(x) + 3};
}
Tensor first_weights() { return constant({{.5f}, {-.25f}, {1.f}}); }

struct Step {
  Tensor loss, gradient;
};
template <class Loss>
Step differentiated(const Variable& w, const Loss& loss) {
  GradientTape tape;
  const Tensor y = loss();
  return {y, tape.gradient(y, w)};
}

TEST_CASE("make_parallel: a + b on two slices is a + b") {
  const Tensor a = reshape(range(0.f, 20.f), {10, 2}), b = 3 * a;
  const auto add = [](const Tensor& x, const Tensor& y) { return x + y; };
  for (const int n : {1, 2, 3, 4, 10, 25}) CHECK(floats(make_parallel(add, n, a, b)) == floats(a + b));
  CHECK(floats(make_parallel(add, {"CPU:0", "CPU:0", "CPU:0"}, a, b)) == floats(a + b));
}

TEST_CASE("make_parallel: sizes of slices differ by one, and no slice is empty") {
  const auto sizes = [](i64 rows, int n) {
    std::vector<i64> r;
    const Tensor y = make_parallel([&](const Tensor& x) { return r.push_back(x.shape()[0]), x; }, n, zeros({rows, 2}));
    CHECK(y.shape() == Shape{rows, 2});
    return r;
  };
  CHECK(sizes(10, 4) == std::vector<i64>{3, 3, 2, 2});
  CHECK(sizes(8, 4) == std::vector<i64>{2, 2, 2, 2});
  CHECK(sizes(2, 4) == std::vector<i64>{1, 1});
  CHECK(sizes(0, 4) == std::vector<i64>{0});
}

TEST_CASE("make_parallel: loss and gradients do not depend on the number of slices") {
  const Points given = points(10);
  const Tensor &x = given.x, &y = given.y;
  const Variable w(first_weights());
  const auto error = [&](const Tensor& a, const Tensor& b) { return square(matmul(a, w) - b); };
  const auto mean = [&](const Tensor& a, const Tensor& b) { return reduce_mean(error(a, b)); };
  const Step whole = differentiated(w, [&] { return mean(x, y); });
  for (const int n : {1, 2, 3, 4, 10}) {
    const auto concatenated = [&] { return reduce_mean(make_parallel(error, n, x, y)); };
    const auto averaged = [&] { return make_parallel_mean(mean, n, x, y); };
    const auto check = [&](const Step& step) {
      check_close(step.loss, whole.loss);
      check_close(step.gradient, whole.gradient);
    };
    check(differentiated(w, concatenated));
    check(differentiated(w, averaged));
    check(function([&] { return differentiated(w, concatenated); })());
    check(function([&] { return differentiated(w, averaged); })());
    check(differentiated(w, [&] { return function(concatenated)(); }));
  }
}

TEST_CASE("make_parallel_mean: gradients that each slice takes are averaged, too") {
  const Points given = points(11);
  const Tensor &x = given.x, &y = given.y;
  const Variable w(first_weights());
  const auto step = [&](const Tensor& a, const Tensor& b) {
    return differentiated(w, [&] { return reduce_mean(square(matmul(a, w) - b)); });
  };
  const Step whole = step(x, y), sliced = make_parallel_mean(step, 4, x, y);
  check_close(sliced.loss, whole.loss);
  check_close(sliced.gradient, whole.gradient);

  const Variable table(reshape(range(0.f, 12.f), {6, 2}));  // the gradient of gather is row-sparse
  const auto rows = [&](const Tensor& i) {
    GradientTape tape;
    return tape.gradient(reduce_mean(square(gather(table, i))), std::vector<Variable>{table});
  };
  const Tensor i = constant({0, 3, 3, 5, 1});
  check_close(make_parallel_mean(rows, 2, i)[0].tensor(), rows(i)[0].tensor());
}

TEST_CASE("make_parallel: a number of rows that a trace does not know") {
  const Variable w(first_weights());
  const auto error = [&](const Tensor& a, const Tensor& b) { return square(matmul(a, w) - b); };
  const TensorSpec xs({none, 3}, float32), ys({none, 1}, float32);
  const auto concatenated = function(
      [&](const Tensor& x, const Tensor& y) {
        return differentiated(w, [&] { return reduce_mean(make_parallel(error, 4, x, y)); });
      },
      {.name = "concatenated", .input_signature = {xs, ys}});
  const auto averaged = function(
      [&](const Tensor& x, const Tensor& y) {
        return differentiated(w, [&] {
          return make_parallel_mean([&](const Tensor& a, const Tensor& b) { return reduce_mean(error(a, b)); }, 4, x,
                                    y);
        });
      },
      {.name = "averaged", .input_signature = {xs, ys}});
  for (const i64 rows : {8, 10, 4, 3, 1}) {  // with fewer than four, slices are empty
    const Points given = points(rows);
    const Tensor &x = given.x, &y = given.y;
    const Step whole = differentiated(w, [&] { return reduce_mean(error(x, y)); });
    for (const Step& step : {concatenated(x, y), averaged(x, y)}) {
      check_close(step.loss, whole.loss);
      check_close(step.gradient, whole.gradient);
    }
  }
  CHECK(concatenated.trace_count() == 1);
  CHECK(averaged.trace_count() == 1);
}

TEST_CASE("make_parallel: structs, tuples and vectors of tensors; other arguments are passed as they are") {
  const Variable scale(constant(2.f));
  const auto f = [](const Points& p, const Variable& v, float shift) {
    return std::tuple(p.x * v, std::vector<Tensor>{p.y + shift, p.y - shift}, 7);
  };
  const Points p = points(5);
  const auto [x, ys, number] = make_parallel(f, 2, p, scale, 1.5f);
  CHECK(floats(x) == floats(p.x * 2));
  REQUIRE(ys.size() == 2);
  CHECK(floats(ys[0]) == floats(p.y + 1.5f));
  CHECK(floats(ys[1]) == floats(p.y - 1.5f));
  CHECK(number == 7);
}

TEST_CASE("make_parallel: each slice and its gradient run on its device, the result comes back") {
  const sim::Installed installed;
  const Points given = points(10);
  const Tensor &x = given.x, &y = given.y;
  const Variable w(first_weights());
  const std::vector<Device> devices{{Device::cpu, 0}, sim::device};
  std::vector<Device> seen, scopes;
  const auto error = [&](const Tensor& a, const Tensor& b) {
    const Tensor e = square(matmul(a, w) - b);
    return seen.push_back(e.device()), scopes.push_back(current_device()), e;
  };
  const auto sliced = [&] {
    return differentiated(w, [&] { return reduce_mean(make_parallel(error, devices, x, y)); });
  };
  const Step whole = differentiated(w, [&] { return reduce_mean(square(matmul(x, w) - y)); });
  const Step eager = sliced();
  CHECK(seen == devices);
  CHECK(scopes == devices);
  CHECK(eager.loss.device() == Device{});
  CHECK(eager.gradient.device() == w.device());
  const auto traced = function(sliced);
  for (const Step& step : {eager, traced(), traced()}) {
    check_close(step.loss, whole.loss);
    check_close(step.gradient, whole.gradient);
  }

  Tensor mean;
  std::int64_t forward = 0;
  {
    GradientTape tape;
    const auto before = sim::counts().launches;
    mean =
        make_parallel_mean([&](const Tensor& a, const Tensor& b) { return reduce_mean(error(a, b)); }, devices, x, y);
    forward = sim::counts().launches;
    CHECK(forward > before);
    check_close(tape.gradient(mean, w), whole.gradient);
  }
  CHECK(sim::counts().launches > forward);  // the gradient, too
  check_close(mean, whole.loss);
  CHECK(mean.device() == Device{});
}

namespace {
// The devices on which results of ops were computed.
struct Placement final : Observer {
  std::vector<Device> devices;
  Placement() { every_op = true, detail::observe(*this); }
  ~Placement() { detail::unobserve(*this); }
  void record(const Applied& a) override {
    for (const Tensor& t : a.out) devices.push_back(t.device());
  }
  void read(const Variable&, const Tensor&) override {}
  std::size_t count(Device d) const { return static_cast<std::size_t>(std::count(devices.begin(), devices.end(), d)); }
};
struct LogicalCpus {
  explicit LogicalCpus(int n) { config::set_logical_cpu_devices(n); }
  ~LogicalCpus() { config::set_logical_cpu_devices(1); }
};
}  // namespace

TEST_CASE("logical CPU devices: listed, named, and refused beyond their number") {
  using Devices = std::vector<Device>;
  CHECK(config::list_logical_devices("CPU") == Devices{{Device::cpu, 0}});
  CHECK_THROWS_WITH(device_named("CPU:1"), ContainsSubstring("CPU:1 does not exist; there is 1"));
  CHECK_THROWS_AS(ones({2}).to({Device::cpu, 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(distribute::Slices(Devices{{Device::cpu, 1}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(config::set_logical_cpu_devices(0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(config::set_logical_cpu_devices(257), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(config::list_logical_devices("TPU"), ContainsSubstring("'TPU'"));
  {
    const LogicalCpus three(3);
    CHECK(config::logical_cpu_devices() == 3);
    CHECK(config::list_logical_devices("CPU") == Devices{{Device::cpu, 0}, {Device::cpu, 1}, {Device::cpu, 2}});
    CHECK(config::list_logical_devices().size() >= 3);
    CHECK_THROWS_WITH(device_named("CPU:3"), ContainsSubstring("there are 3"));
    const auto scope = device("CPU:2");
    const Tensor x = constant({1.f, 2.f}), y = 2 * x + 1;
    CHECK(y.device() == Device{Device::cpu, 2});
    CHECK(zeros({2}).device() == Device{Device::cpu, 2});
    CHECK((ones({2}).to({Device::cpu, 1}) + y).device() == Device{Device::cpu, 1});
    CHECK(floats(y) == std::vector<float>{3, 5});
  }
  CHECK_THROWS_AS(device_named("CPU:1"), errors::InvalidArgumentError);
}

TEST_CASE("make_parallel: logical CPU devices, gradients on the device of the forward op") {
  const LogicalCpus four(4);
  const Points given = points(10);
  const Tensor &x = given.x, &y = given.y;
  const Variable w(first_weights());
  const std::vector<Device> devices = config::list_logical_devices("CPU");
  std::vector<Device> seen;
  const auto error = [&](const Tensor& a, const Tensor& b) {
    const Tensor e = square(matmul(a, w) - b);
    return seen.push_back(e.device()), e;
  };
  const Step whole = differentiated(w, [&] { return reduce_mean(square(matmul(x, w) - y)); });
  const auto sliced = [&] {
    return differentiated(w, [&] { return reduce_mean(make_parallel(error, devices, x, y)); });
  };
  const Step eager = sliced();
  CHECK(seen == devices);
  CHECK(eager.loss.device() == Device{});
  CHECK(eager.gradient.device() == Device{});
  const auto traced = function(sliced);
  for (const Step& step : {eager, traced(), traced()}) {
    check_close(step.loss, whole.loss);
    check_close(step.gradient, whole.gradient);
  }

  GradientTape tape;
  std::vector<std::size_t> forward, backward;
  Tensor loss;
  {
    const Placement placement;
    loss =
        make_parallel_mean([&](const Tensor& a, const Tensor& b) { return reduce_mean(error(a, b)); }, devices, x, y);
    for (const Device d : devices) forward.push_back(placement.count(d));
  }
  {
    const Placement placement;
    check_close(tape.gradient(loss, w), whole.gradient);
    for (const Device d : devices) backward.push_back(placement.count(d));
  }
  check_close(loss, whole.loss);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    CAPTURE(i);
    CHECK(forward[i] >= 5);   // transfers, the product, the difference, its square, the mean
    CHECK(backward[i] >= 4);  // their gradients
  }
  CHECK(forward[1] == forward[2]);
  CHECK(backward[1] == backward[2]);
}

TEST_CASE("make_parallel: what is wrong is said before f is called") {
  const auto f = [](const Tensor& x) -> Tensor { throw std::logic_error("called with " + to_string(x.spec())); };
  const auto g = [](const Tensor& x, const Tensor&) { return x; };
  const Tensor x = ones({4, 2});
  CHECK_THROWS_WITH(make_parallel(f, 0, x), ContainsSubstring("must be positive, not 0"));
  CHECK_THROWS_WITH(make_parallel(f, {"TPU:0"}, x), ContainsSubstring("'TPU:0' does not name a device"));
  CHECK_THROWS_AS(make_parallel(f, {"GPU:0", "GPU:63"}, x), errors::OpError);
  CHECK_THROWS_WITH(make_parallel(f, 2, constant(1.f)), ContainsSubstring("float32[]") && ContainsSubstring("capture"));
  CHECK_THROWS_WITH(make_parallel(g, 2, x, ones({5})), ContainsSubstring("float32[4,2] and float32[5]"));
  CHECK_THROWS_WITH(make_parallel([] { return Tensor(); }, 2), ContainsSubstring("no tensor among the arguments"));
  const auto sum = [](const Tensor& a) { return reduce_sum(a); };
  CHECK_THROWS_WITH(make_parallel(sum, 2, x), ContainsSubstring("make_parallel_mean averages"));
  CHECK_THROWS_WITH(make_parallel_mean([](const Tensor& a) { return cast(a, int32); }, 2, x),
                    ContainsSubstring("has no mean: int32"));
  CHECK_THROWS_WITH(make_parallel_mean([](const Tensor& a) { return a; }, 3, x), ContainsSubstring("differ in shape"));
  const auto uneven = [](const Tensor& a) { return std::vector<Tensor>(static_cast<std::size_t>(a.shape()[0]), a); };
  CHECK_THROWS_WITH(make_parallel(uneven, 3, x), ContainsSubstring("different numbers of tensors: 2 and 1"));
}

// How many of a plan's products are in branches, and all of them.
struct Products {
  int in_branches = 0, all = 0;
};
Products products_of(const std::string& plan) {
  std::vector<std::pair<int, int>> regions;
  Products r;
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    int first = 0, last = 0, count = 0;
    if (std::sscanf(line.c_str(), " nodes %d to %d in %d branches", &first, &last, &count) == 3 && count == 2)
      regions.emplace_back(first, last);
    if (line.find(" MatMul") == line.npos || line.find("workspace") != line.npos) continue;
    const int node = std::stoi(line.substr(line.rfind("(nodes ") + 7));
    ++r.all;
    for (const auto& [from, to] : regions) r.in_branches += from <= node && node <= to;
  }
  return r;
}
TEST_CASE("make_parallel: slices of a traced function are branches, which may run at the same time") {
  const testing::Threads one(1);  // so that branches pay, however fast this machine is
  const int before = config::inter_op_parallelism_threads();
  const auto uniform = [](i64 seed) {
    return random::stateless_uniform({128, 128}, {1, seed}, {.minval = -0.1, .maxval = 0.1});
  };
  const Variable a(uniform(1)), b(uniform(2));
  const auto net = [&](const Tensor& x) { return tanh(matmul(tanh(matmul(x, a)), b)); };
  const auto differentiate = [&](const auto& loss) {
    GradientTape tape;
    const Tensor y = loss();
    const auto g = tape.gradient(y, std::vector<Variable>{a, b});
    return std::vector<Tensor>{y, g[0].dense(), g[1].dense()};
  };
  const auto mean = [&](const Tensor& x) { return reduce_mean(square(net(x))); };
  const Tensor x = uniform(3);
  const auto check = [&](const auto& f, int products, int least) {
    config::set_inter_op_parallelism_threads(1);
    const auto in_order = function(f);
    const std::vector<Tensor> wanted = in_order(x);
    CHECK(products_of(in_order.get_concrete_function(x)->plan()).in_branches == 0);
    config::set_inter_op_parallelism_threads(2);
    const auto branched = function(f);
    const Products found = products_of(branched.get_concrete_function(x)->plan());
    CHECK(found.all == products);
    CHECK(found.in_branches >= least);
    const std::vector<Tensor> got = branched(x);
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(floats(got[i]) == floats(wanted[i]));
  };
  check([&](const Tensor& t) { return std::vector<Tensor>{make_parallel(net, 2, t)}; }, 4, 4);
  // Each slice's gradients, of which the means are taken.
  const auto gradients = [&](const Tensor& t) { return differentiate([&] { return mean(t); }); };
  check([&](const Tensor& t) { return make_parallel_mean(gradients, 2, t); }, 10, 10);
  // A tape around all slices adds a Variable's gradients up as they come, and the branches meet there.
  const auto around = [&](const Tensor& t) { return differentiate([&] { return make_parallel_mean(mean, 2, t); }); };
  check(around, 10, 8);
  config::set_inter_op_parallelism_threads(before);
}

}  // namespace make_parallel_test
