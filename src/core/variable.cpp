#include "tandem/core/variable.inl"
#include "tandem/core/assign_all.inl"
#include "tandem/core/profile.inl"
