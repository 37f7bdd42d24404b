#include "tandem/train/callbacks.inl"
#include "tandem/train/callback.inl"
#include "tandem/train/history.inl"
