// What Trainer::fit knows of a run itself, which must be the same when the run goes on. Behind run_keeper.hpp.
#pragma once
#include <string>

#include "tandem/train/callback.hpp"
#include "tandem/train/run_directory.hpp"
#include "tandem/train/trainer.hpp"

namespace TANDEM_NS::train::detail {

/// Texts by names that begin with "fit.": the steps of an epoch if they are known; of a model its Variables, and the
/// options of the Trainer.
///   options  null for a Trainer with a step of its own
TANDEM_API Metadata run_facts(const Run& run, const TrainerOptions* options);

/// Compares the facts of a run that goes on with those that the notes of its run.json have. Notes of earlier versions
/// have none, and what they do not have is not compared.
///   model   null for a Trainer with a step of its own
///   throws  errors::FailedPreconditionError, which lists what differs, and for a model the Variables that differ from
///           those of the latest checkpoint
TANDEM_API void check_facts(const RunDirectory& directory, const Metadata& facts, const Module* model);

}  // namespace TANDEM_NS::train::detail
