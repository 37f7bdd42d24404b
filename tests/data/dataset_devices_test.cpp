// copy_to_device and prefetch_to_device: elements on a device, in the order and at the positions of their data set.
#include "tandem/data/dataset_devices.hpp"

#include <map>

#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

namespace data_dataset_devices_test {
using namespace tandem;

const Tensor x = reshape(cast(range(20), float32), {10, 2}), y = range(10);
constexpr Device cpu{Device::cpu, 0};

TEST_CASE("copy_to_device: all tensors of an element are on the device, texts stay") {
  const sim::Installed sim;
  const auto pairs = data::copy_to_device(data::from_tensor_slices({x, y}).batch(4), sim::device);
  CHECK(pairs.is_indexed());
  CHECK(pairs.size() == 3);
  i64 rows = 0;
  for (const auto& [a, b] : pairs.epoch(0)) {
    CHECK(a.device() == sim::device);
    CHECK(b.device() == sim::device);
    CHECK(a.cpu().to_vector<float>()[0] == static_cast<float>(2 * rows));
    rows += b.shape()[0];
  }
  CHECK(rows == 10);

  using Named = std::map<std::string, Tensor>;
  const auto named = data::copy_to_device(
      data::from_items(std::vector<Named>{{{"number", constant(3.f)}, {"text", constant("three")}}}), sim::device);
  for (const Named& element : named.epoch(0)) {
    CHECK(element.at("number").device() == sim::device);
    CHECK(element.at("text").device() == cpu);
  }
  const auto plain = data::copy_to_device(data::range(3), sim::device);
  CHECK(plain.to_vector() == std::vector<i64>{0, 1, 2});
}

TEST_CASE("prefetch_to_device: the elements, order and positions of the data set") {
  const sim::Installed sim;
  const auto batches = data::from_tensor_slices({x, y}).shuffle({.seed = 5}).batch(3);
  const auto there = data::prefetch_to_device(batches, sim::device);
  CHECK(there.size() == batches.size());
  // The elements are looked at when the thread that copies has ended: one thread at a time may use the device.
  const auto numbers = [](const auto& ds, i64 epoch, i64 first, Device device) {
    std::vector<std::array<Tensor, 2>> elements;
    for (const auto& element : ds.epoch(epoch, first)) elements.push_back(element);
    std::vector<int> r;
    for (const auto& [a, b] : elements) {
      CHECK(a.device() == device);
      CHECK(b.device() == device);
      for (const int n : b.cpu().template to_vector<int>()) r.push_back(n);
    }
    return r;
  };
  CHECK(numbers(there, 0, 0, sim::device) == numbers(batches, 0, 0, cpu));
  CHECK(numbers(there, 4, 2, sim::device) == numbers(batches, 4, 2, cpu));
  CHECK_THROWS_AS(data::prefetch_to_device(batches, cpu, 0), errors::InvalidArgumentError);
  auto it = data::prefetch_to_device(batches, cpu).iterator({1, 3});
  CHECK(it.next().has_value());
  CHECK((it.position() == data::Position{1, 4}));
}

TEST_CASE("copy_to_device, prefetch_to_device: a device that is not there is an error at each element") {
  const auto ds = data::from_tensor_slices({x, y});  // sim is not installed
  for (const auto& there : {data::copy_to_device(ds, sim::device), data::prefetch_to_device(ds, sim::device)}) {
    auto it = there.iterator();
    CHECK_THROWS_AS(it.next(), errors::UnimplementedError);
    CHECK_THROWS_AS(it.next(), errors::UnimplementedError);
  }
}

}  // namespace data_dataset_devices_test
