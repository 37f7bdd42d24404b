// Saved models: traced functions with names, their Variables and files as directories that another program loads. The
// component tandem::saved_model.
#pragma once
#include "tandem/function.hpp"
#include "tandem/saved_model/load.hpp"
#include "tandem/saved_model/save.hpp"
#include "tandem/saved_model/signature.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/io.hpp"
#include "tandem/saved_model/load.inl"
#include "tandem/saved_model/loaded.inl"
#include "tandem/saved_model/manifest.inl"
#include "tandem/saved_model/save.inl"
#include "tandem/saved_model/signature.inl"
#include "tandem/saved_model/version_folder.inl"
#include "tandem/tandem.hpp"
#endif
