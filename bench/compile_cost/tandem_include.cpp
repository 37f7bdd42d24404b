// What it costs to compile Tandem's umbrella header.
#include <tandem/tandem.hpp>

int main() {}
