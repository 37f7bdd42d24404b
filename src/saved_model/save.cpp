#include "tandem/saved_model/save.inl"
#include "tandem/saved_model/manifest.inl"
#include "tandem/saved_model/signature.inl"
#include "tandem/saved_model/version_folder.inl"
