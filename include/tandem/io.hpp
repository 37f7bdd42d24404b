// Reading and writing tensors and graphs: safetensors, .npy, .npz, traced graphs. The component tandem::io.
#pragma once
#include "tandem/io/graph_file.hpp"
#include "tandem/io/npy.hpp"
#include "tandem/io/npz.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/safetensors.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/io/graph_file.inl"
#include "tandem/io/npy.inl"
#include "tandem/io/npz.inl"
#include "tandem/io/replace_file.inl"
#include "tandem/io/safetensors_header.inl"
#include "tandem/io/safetensors_read.inl"
#include "tandem/io/safetensors_write.inl"
#include "tandem/tandem.hpp"
#endif
