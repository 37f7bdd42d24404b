// Flags of a program: what app::run prints and returns.
#include "tandem/train/flags.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace flags_test {
using namespace tandem;

// What is written to a descriptor during a scope.
class Written {
 public:
  explicit Written(int descriptor) : descriptor_(descriptor), before_(::dup(descriptor)) {
    std::fflush(nullptr);
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(file, descriptor_);
    ::close(file);
  }
  Written(const Written&) = delete;
  ~Written() {
    ::dup2(before_, descriptor_);
    ::close(before_);
  }
  std::string text() const { return io::read_file(path_); }

 private:
  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "written";
  const int descriptor_, before_;
};
struct Result {
  int status;
  bool ran;
  std::string out, err;
};
Result run(app::Flags flags, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  const Written out(STDOUT_FILENO), err(STDERR_FILENO);
  bool ran = false;
  const int status = app::run(flags, static_cast<int>(arguments.size()), arguments.data(), [&] {
    ran = true;
    return static_cast<int>(flags.get<i64>("units"));
  });
  return {status, ran, out.text(), err.text()};
}
app::Flags flags() { return {{"lr", 0.01, "learning rate"}, {"units", 32, "of the hidden layer"}}; }

TEST_CASE("a program runs with its flags, those that are not given with their defaults") {
  Result r = run(flags(), {"--lr=0.1"});
  CHECK((r.ran && r.status == 32));
  r = run(flags(), {"--units", "7"});
  CHECK((r.ran && r.status == 7));
  CHECK((r.out.empty() && r.err.empty()));
}

TEST_CASE("--help prints all flags, and the program does not run") {
  const Result r = run(flags(), {"--units=7", "--help"});
  CHECK((!r.ran && r.status == 0));
  CHECK(r.out ==
        "usage: program [--flag=value ...]\n"
        "  --lr=0.01       learning rate\n"
        "  --units=32      of the hidden layer\n"
        "  --hparams=FILE  read values from a JSON file\n"
        "  --help          print this list\n");
  CHECK(r.err.empty());
}

TEST_CASE("an unknown flag is an error that names the known ones, and so is a value of another type") {
  Result r = run(flags(), {"--foo=1"});
  CHECK((!r.ran && r.status == 2));
  CHECK(r.err == "HParams: there is no parameter \"foo\"; there are: lr, units\n(--help prints all flags)\n");
  CHECK(r.out.empty());
  r = run(flags(), {"--units=abc"});
  CHECK((!r.ran && r.status == 2));
  CHECK_THAT(r.err, ContainsSubstring("units is a whole number, not \"abc\""));
  const std::vector<const char*> none{"program"};
  app::Flags own = flags();
  const auto fails = []() -> int { errors::raise<errors::NotFoundError>("program", "its own error"); };
  CHECK_THROWS_AS(app::run(own, 1, none.data(), fails), errors::NotFoundError);
}

}  // namespace flags_test
