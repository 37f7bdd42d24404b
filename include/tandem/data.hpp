// Reading data and handing it to a training loop: text, IDX, CSV and TSV files, mini-batches, splits, padded sequences,
// generated stand-ins. The component tandem::data.
#pragma once
#include "tandem/data/batches.hpp"
#include "tandem/data/csv.hpp"
#include "tandem/data/file.hpp"
#include "tandem/data/idx.hpp"
#include "tandem/data/permutation.hpp"
#include "tandem/data/sequences.hpp"
#include "tandem/data/split.hpp"
#include "tandem/data/synthetic.hpp"
#include "tandem/data/table.hpp"
