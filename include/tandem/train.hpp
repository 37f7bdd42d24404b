// Training: Trainer with fit, evaluate and predict; callbacks; checkpoints. The component tandem::train.
#pragma once
#include "tandem/data.hpp"
#include "tandem/train/any_function.hpp"
#include "tandem/train/batches.hpp"
#include "tandem/train/callback.hpp"
#include "tandem/train/callbacks.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/history.hpp"
#include "tandem/train/loss_scale.hpp"
#include "tandem/train/trainer.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/io.hpp"
#include "tandem/tandem.hpp"
#include "tandem/train/callback.inl"
#include "tandem/train/callbacks.inl"
#include "tandem/train/checkpoint.inl"
#include "tandem/train/history.inl"
#include "tandem/train/loss_scale.inl"
#include "tandem/train/steps.inl"
#include "tandem/train/trainer.inl"
#endif
