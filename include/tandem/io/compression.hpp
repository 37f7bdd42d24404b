// How the content of a file is compressed.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::io {

/// `automatic` is for reading: gzip where a file begins with its two bytes 1f 8b, whatever its name, otherwise none.
enum class Compression { none, gzip, zlib, automatic };

}  // namespace TANDEM_NS::io
