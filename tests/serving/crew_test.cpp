// Crew: what happens when the system gives no more threads.
#include "tandem/serving/crew.hpp"

#include <pthread.h>

#include "tandem/serving/certificates.hpp"
#include "tandem/serving/http_server.hpp"
#include "tests/serving/models.hpp"

namespace crew_test {

using namespace tandem;
using serving::impl::Crew;

/// No thread can begin in its scope: none gets a stack of half of the address space.
class NoThreads {
 public:
  NoThreads() {
    REQUIRE(pthread_getattr_default_np(&before_) == 0);
    pthread_attr_t huge;
    REQUIRE(pthread_attr_init(&huge) == 0);
    REQUIRE(pthread_attr_setstacksize(&huge, std::size_t{1} << 46) == 0);
    REQUIRE(pthread_setattr_default_np(&huge) == 0);
    pthread_attr_destroy(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

struct Waiting final : serving::impl::CrewWork {
  std::atomic<bool> stop{false};
  Crew* crew = nullptr;
  void work(bool stays) override {
    while (!stop && (stays || !crew->lets_go(false))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

TEST_CASE("crew: a server that gets no threads raises") {
  struct Nothing final : serving::impl::HttpHandler {
    serving::HttpAnswer handle(const serving::HttpRequest&) override { return {}; }
    void refused(int) noexcept override {}
  } handler;
  const serving::impl::Certificates none{""};
  const NoThreads scope;
  CHECK_THROWS_AS(serving::impl::HttpServer({.models = {}, .rest_api_port = 0}, none, handler), std::system_error);
}

TEST_CASE("crew: the last free thread stays out of models while there are no more threads") {
  Waiting work;
  Crew crew(work, 8);
  work.crew = &crew;
  crew.start();
  struct Stop {
    std::atomic<bool>& flag;
    ~Stop() { flag = true; }
  } const stop{work.stop};
  const Crew::Slow first(crew);
  const auto may = [&] {
    const Crew::Slow second(crew);
    if (second.may()) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // longer than the watcher waits
    return second.may();
  };
  const auto ends = [&](bool wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (may() != wanted && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return may() == wanted;
  };
  {
    const NoThreads scope;
    CHECK(ends(false));
  }
  CHECK(ends(true));  // there are some again
}

}  // namespace crew_test
