#define TANDEM_IMPLEMENT_GRAPH_FILE 1
#include "tandem/io/graph_file.hpp"
