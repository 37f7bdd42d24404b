// Training: Trainer with fit, evaluate and predict; callbacks; checkpoints; progress, interrupts and the folder of a run
// for loops of one's own. The component tandem::train.
#pragma once
#include "tandem/data.hpp"
#include "tandem/train/any_function.hpp"
#include "tandem/train/batches.hpp"
#include "tandem/train/callback.hpp"
#include "tandem/train/callbacks.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/checkpoint_manager.hpp"
#include "tandem/train/history.hpp"
#include "tandem/train/loss_scale.hpp"
#include "tandem/train/progress.hpp"
#include "tandem/train/run_directory.hpp"
#include "tandem/train/signals.hpp"
#include "tandem/train/trainer.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/io.hpp"
#include "tandem/tandem.hpp"
#include "tandem/train/callback.inl"
#include "tandem/train/callbacks.inl"
#include "tandem/train/checkpoint.inl"
#include "tandem/train/checkpoint_index.inl"
#include "tandem/train/checkpoint_manager.inl"
#include "tandem/train/history.inl"
#include "tandem/train/loss_scale.inl"
#include "tandem/train/progress.inl"
#include "tandem/train/run_directory.inl"
#include "tandem/train/run_keeper.inl"
#include "tandem/train/signals.inl"
#include "tandem/train/steps.inl"
#include "tandem/train/trainer.inl"
#endif
