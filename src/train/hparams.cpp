#include "tandem/train/hparams.inl"
#include "tandem/train/flags.inl"
#include "tandem/train/hparams_text.inl"
