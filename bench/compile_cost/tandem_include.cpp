// Measures the cost of compiling Tandem's umbrella header.
#include <tandem/tandem.hpp>

int main() {}
