#include "tandem/train/trainer.inl"
#include "tandem/train/experiment.inl"
#include "tandem/train/loss_scale.inl"
#include "tandem/train/steps.inl"
