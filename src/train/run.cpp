#include "tandem/train/progress.inl"
#include "tandem/train/run_directory.inl"
#include "tandem/train/run_keeper.inl"
#include "tandem/train/signals.inl"
