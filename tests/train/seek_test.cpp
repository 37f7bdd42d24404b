// Trainer::fit from files in the folder of a run: a run that goes on does not read what lies before.
#include <sys/stat.h>

#include <fstream>

#include "tandem/data/dataset_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace seek_test {
using namespace training;

TEST_CASE("a run from a file goes on behind what it has read") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "points.csv";
  {
    std::ofstream file(path);
    for (int i = 0; i < 4000; ++i) file << i % 7 << "," << i % 5 << "," << i % 2 << "\n";
  }
  const auto train = [&](const std::string& run, i64 stop) {
    const layers::Sequential net = network();
    train::Trainer trainer(net, options());
    const auto rows =
        data::CsvDataset(path, {constant(0.f), constant(0.f), constant(i64{0})}, {.batch_size = 8, .header = false})
            .map([](const std::vector<Tensor>& c) {
              return std::pair(stack({c[0], c[1]}, {.axis = 1}), c[2]);
            });
    const auto fail = train::LambdaCallback({.on_step_end = [stop](train::Run& r) {
      if (r.step() == stop) throw std::runtime_error("stopped");
    }});
    trainer.fit(
        rows,
        {.callbacks = {fail}, .progress = {.mode = train::ProgressMode::none}, .directory = run, .save_steps = 50});
    return weights_of(net);
  };
  const auto expected = train(folder / "whole", -1);
  CHECK_THROWS_WITH(train(folder / "run", 460), "stopped");
  // Lines as long as these, so that the file has the first batch and the same size, but other numbers in between.
  struct stat before {};
  REQUIRE(::stat(path.c_str(), &before) == 0);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(6 * 8);
    for (int i = 8; i < 3000; ++i) file << "9,9,1\n";
  }
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  CHECK(train(folder / "run", -1) == expected);
  CHECK(train(folder / "other", -1) != expected);
}

}  // namespace seek_test
