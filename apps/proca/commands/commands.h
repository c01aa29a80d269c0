#pragma once

#include "command.h"

namespace proca::app {

// One function per command, each in the file of its name (`data ...` in data.cpp,
// `presets` in run.cpp, `bench load` in bench_inference.cpp, `manual` in completion.cpp).
Command adapt_command();
Command bench_command();
Command bench_decode_command();
Command bench_inference_command();
Command bench_iteration_command();
Command bench_load_command();
Command bench_step_command();
Command bench_training_command();
Command data_list_command();
Command data_make_demo_command();
Command data_pack_command();
Command data_verify_command();
Command demo_command();
Command evaluate_command();
Command experiment_command();
Command export_command();
Command inspect_command();
Command methods_command();
Command predict_command();
Command presets_command();
Command pretrain_command();
Command report_command();
Command reproduce_command();
Command run_command();
Command undo_command();
Command watch_command();

/// The commands, and those that describe them all: `completion` and `manual`.
std::vector<Command> with_descriptions(std::vector<Command> commands);

}  // namespace proca::app
