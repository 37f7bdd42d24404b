#include "tandem/summary/report.inl"
#include "tandem/summary/plugin_data.inl"
#include "tandem/summary/report_hparams.inl"
#include "tandem/summary/report_server.inl"
