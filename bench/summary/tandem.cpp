// Summaries in Tandem.
#include <tandem/summary.hpp>

#include <cstdlib>
#include <filesystem>

#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::summary;
namespace ts = tandem::summary;

// A folder that exists as long as the object.
struct Folder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("bench_summary" + std::to_string(std::rand()))).string();
  Folder() = default;
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

void write_scalars(ts::FileWriter& writer) {
  for (std::int64_t i = 0; i < calls; ++i) writer.scalar("loss", number(i), i);
}
// Each sample has a file of its own, which is complete at its end.
bench::Work scalars_written() {
  bench::Work work;
  work.run = [](std::int64_t n) {
    const Folder folder;
    ts::FileWriter writer(folder.path);
    for (std::int64_t i = 0; i < n; ++i) write_scalars(writer);
    writer.close();
  };
  work.result = [] {
    const Folder folder;
    ts::FileWriter writer(folder.path);
    write_scalars(writer);
    writer.close();
    double sum = 0;
    for (const ts::Event& event : ts::read_events(folder.path))
      for (const ts::Value& value : event.values) sum += std::get<double>(value.content);
    return std::vector<float>{static_cast<float>(sum)};
  };
  return work;
}
bench::Work histogram_written() {
  const tandem::Tensor x = bench::tandem_normal({numbers}, 1);
  bench::Work work;
  work.run = [x](std::int64_t n) {
    const Folder folder;
    ts::FileWriter writer(folder.path);
    for (std::int64_t i = 0; i < n; ++i) writer.histogram("x", x, {.step = i});
    writer.close();
  };
  work.result = [x] {
    const Folder folder;
    ts::FileWriter writer(folder.path);
    writer.histogram("x", x, {.step = 0});
    writer.close();
    double count = 0;
    for (const auto& b : std::get<ts::Histogram>(ts::read_events(folder.path).at(1).values.at(0).content).buckets)
      count += b.count;
    return std::vector<float>{static_cast<float>(count)};
  };
  return work;
}

[[maybe_unused]] const bool added[] = {bench::add(scalars, scalars_written), bench::add(histogram, histogram_written)};
}  // namespace
