// Reading data and handing it to a training loop: text, IDX, CSV and TSV files, data sets and their batches, splits,
// padded sequences, generated stand-ins. The component tandem::data.
#pragma once
#include "tandem/data/csv.hpp"
#include "tandem/data/dataset.hpp"
#include "tandem/data/file.hpp"
#include "tandem/data/idx.hpp"
#include "tandem/data/permutation.hpp"
#include "tandem/data/sequences.hpp"
#include "tandem/data/split.hpp"
#include "tandem/data/synthetic.hpp"
#include "tandem/data/table.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/data/csv.inl"
#include "tandem/data/dataset/ahead.inl"
#include "tandem/data/dataset/dataset.inl"
#include "tandem/data/dataset/element.inl"
#include "tandem/data/dataset/report.inl"
#include "tandem/data/file.inl"
#include "tandem/data/idx.inl"
#include "tandem/data/permutation.inl"
#include "tandem/data/sequences.inl"
#include "tandem/data/split.inl"
#include "tandem/data/synthetic_digits.inl"
#include "tandem/data/synthetic_letters.inl"
#include "tandem/data/synthetic_texts.inl"
#include "tandem/data/table.inl"
#include "tandem/tandem.hpp"
#endif
