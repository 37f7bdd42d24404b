#include "tandem/serving/config_file.inl"
#include "tandem/serving/text_proto.inl"
