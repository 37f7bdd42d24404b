// The main function of every test program. The framework's own code is compiled here, once.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
