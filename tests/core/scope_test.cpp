// Scopes of devices and names: what is made in them, and what holds again behind them. Operands on several devices.
#include "tandem/core/scope.hpp"

#include "tandem/core/backend.hpp"
#include "tandem/core/devices.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;

TEST_CASE("DeviceScope: the innermost one decides, and the outer one holds again behind it") {
  const sim::Installed installed;
  const Device cpu{};
  CHECK(zeros({2}).device() == cpu);
  {
    const DeviceScope outer(sim::device);
    CHECK(zeros({2}).device() == sim::device);
    {
      const DeviceScope inner(cpu);
      CHECK(zeros({2}).device() == cpu);
      {
        const DeviceScope innermost(sim::device);
        CHECK(zeros({2}).device() == sim::device);
      }
      CHECK(zeros({2}).device() == cpu);
    }
    CHECK(zeros({2}).device() == sim::device);
    CHECK_THROWS_AS(
        [] {
          const DeviceScope inner(Device{});
          errors::raise<errors::InternalError>("test", "leaves the scope");
        }(),
        errors::InternalError);
    CHECK(zeros({2}).device() == sim::device);
  }
  CHECK(zeros({2}).device() == cpu);
}

TEST_CASE("DeviceScope: strings stay on the host") {
  const sim::Installed installed;
  const DeviceScope scope(sim::device);
  const Tensor words = constant({"a", "b"});
  CHECK(words.device() == Device{});
  CHECK(words.to_vector<std::string>() == std::vector<std::string>{"a", "b"});
  CHECK_THROWS_AS(words.to(sim::device), errors::InvalidArgumentError);
}

TEST_CASE("DeviceScope: a trace captures its constants on the device") {
  const sim::Installed installed;
  const DeviceScope scope(sim::device);
  const auto f = function([](const Tensor& x) {
    const Tensor shift = constant({1.f, 2.f}) + x;
    CHECK(shift.has_data() == false);
    const Tensor fixed = constant({3.f, 4.f});
    CHECK(fixed.has_data());
    return x + shift * fixed;
  });
  const Tensor x = ones({2});
  CHECK(f(x).to_vector<float>() == std::vector<float>{7, 13});
  for (const Node& n : f.get_concrete_function(x)->graph().nodes) CHECK(n.op != &transfer_op);
}

TEST_CASE("function: an input signature has a trace for each device; a spec is on the device of the scope") {
  const sim::Installed installed;
  const auto f = function([](const Tensor& x) { return x * 2; }, {.input_signature = {TensorSpec({none}, float32)}});
  const Tensor here = f(ones({2})), there = f(ones({3}).to(sim::device));
  CHECK(here.device() == Device{});
  CHECK(there.device() == sim::device);
  CHECK(there.to_vector<float>() == std::vector<float>{2, 2, 2});
  (void)f(ones({4})), (void)f(ones({5}).to(sim::device));
  CHECK(f.trace_count() == 2);
  CHECK_THROWS_WITH(f(ones({2, 2}).to(sim::device)), ContainsSubstring("the input signature says float32[None]"));

  const DeviceScope scope(sim::device);
  const auto g = function([](const Tensor& x) { return x + 1; });
  (void)g.get_concrete_function(TensorSpec({none}, float32));
  CHECK(g(ones({3})).device() == sim::device);
  CHECK(g.trace_count() == 1);
}

TEST_CASE("enable_check_numerics names the op whose result is on a device") {
  const sim::Installed installed;
  const DeviceScope scope(sim::device);
  const Tensor x = constant({1.f, 0.f});
  debugging::enable_check_numerics();
  try {
    (void)log(x);
    FAIL("no error");
  } catch (const errors::InvalidArgumentError& e) {
    CHECK_THAT(e.what(), ContainsSubstring("log: the result of Log has -inf at [1]"));
  }
  debugging::disable_check_numerics();
}

TEST_CASE("DeviceScope: operands decide where they are, not the scope") {
  const sim::Installed installed;
  const Tensor here = ones({2});
  const DeviceScope scope(sim::device);
  CHECK(exp(here).device() == Device{});
}

TEST_CASE("device policy: operands on two devices are copied, or raise where that is forbidden") {
  struct TwoCpus {
    TwoCpus() { config::set_logical_cpu_devices(2); }
    ~TwoCpus() {
      config::set_logical_cpu_devices(1);
      config::set_device_policy(config::DevicePolicy::silent);
    }
  } two_cpus;
  const Tensor a = constant({1.f, 2.f}), b = constant({3.f, 4.f}).to("CPU:1");
  CHECK(config::device_policy() == config::DevicePolicy::silent);
  const Tensor sum = a + b;
  CHECK(to_string(sum.device()) == "CPU:0");
  CHECK(sum.to_vector<float>() == std::vector<float>{4, 6});

  config::set_device_policy(config::DevicePolicy::explicit_only);
  CHECK_THROWS_AS(a + b, errors::InvalidArgumentError);
  CHECK_THROWS_WITH(a + b, ContainsSubstring("CPU:1") && ContainsSubstring("CPU:0") && ContainsSubstring(".to("));
  CHECK_THROWS_WITH(concat({a, b}, 0), ContainsSubstring("concat") && ContainsSubstring("CPU:1"));
  CHECK((a + b.to("CPU:0")).to_vector<float>() == std::vector<float>{4, 6});
  CHECK(to_string((b * 2 + constant(1.f)).device()) == "CPU:1");  // scalars on the CPU go to any device
  CHECK((b * 2 + constant(1.f)).to_vector<float>() == std::vector<float>{7, 9});
}

TEST_CASE("set_visible_devices hides GPUs: they are not listed, and using one raises") {
  // Three GPUs that nothing runs on.
  struct ThreeGpus {
    Backend table{};
    const Backend* const before = backends[Device::gpu];
    ThreeGpus() {
      table.count = [] { return 3; };
      backends[Device::gpu] = &table;
    }
    ~ThreeGpus() {
      backends[Device::gpu] = before;
      detail::hidden_gpus = 0;
    }
  } gpus;
  const auto gpu = [](int i) { return Device{Device::gpu, static_cast<std::uint8_t>(i)}; };
  using Devices = std::vector<Device>;
  CHECK(config::list_logical_devices("GPU") == Devices{gpu(0), gpu(1), gpu(2)});
  CHECK(&backend_of(gpu(0)) == &gpus.table);
  config::set_visible_devices({gpu(1)}, "GPU");
  CHECK(config::list_logical_devices("GPU") == Devices{gpu(1)});
  CHECK(config::list_logical_devices() == Devices{Device{}, gpu(1)});
  CHECK(&backend_of(gpu(1)) == &gpus.table);
  CHECK_THROWS_AS(backend_of(gpu(0)), errors::UnimplementedError);
  CHECK_THROWS_WITH(zeros({2}).to("GPU:2"), ContainsSubstring("GPU:2") && ContainsSubstring("set_visible_devices"));
  config::set_visible_devices({}, "GPU");
  CHECK(config::list_logical_devices("GPU").empty());
  CHECK_THROWS_WITH(config::set_visible_devices({gpu(3)}, "GPU"), ContainsSubstring("GPU:3") && ContainsSubstring("3"));
  CHECK_THROWS_WITH(config::set_visible_devices({Device{}}, "GPU"), ContainsSubstring("CPU:0"));
  CHECK_THROWS_WITH(config::set_visible_devices({}, "CPU"), ContainsSubstring("set_logical_cpu_devices"));
  CHECK(config::list_logical_devices("GPU").empty());  // as before the errors
}

TEST_CASE("config: the memory of a device is limited and counted by its name") {
  struct NoLimit {
    ~NoLimit() { config::set_memory_limit("CPU:0", 0); }
  } no_limit;
  // A picture of 6144 x 3160 pixels has 232,980,480 bytes as float32 RGB.
  config::set_memory_limit("CPU:0", config::memory_info("CPU:0").live + (i64{128} << 20));
  CHECK(config::memory_info("CPU:0").limit == memory::info().limit);
  try {
    zeros({3160, 6144, 3});
    FAIL_CHECK("no error");
  } catch (const errors::ResourceExhaustedError& e) {
    CHECK_THAT(e.what(), ContainsSubstring("[3160,6144,3]") && ContainsSubstring("232980480"));
  }
  config::set_memory_limit("CPU:0", config::memory_info("CPU:0").live + (i64{1} << 30));
  {
    const i64 before = config::memory_info("CPU:0").live;
    const Tensor picture = zeros({3160, 6144, 3});
    CHECK(config::memory_info("CPU:0").live - before >= 232980480);
  }
  CHECK_THROWS_AS(config::set_memory_limit("CPU:0", -1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(config::set_memory_limit("TPU:0", 0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(config::memory_info("CPU:7"), errors::InvalidArgumentError);
}
