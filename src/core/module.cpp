#include "tandem/core/module.inl"
#include "tandem/core/module_assets.inl"
#include "tandem/core/module_separate.inl"
#include "tandem/core/module_summary.inl"
