#include "command.h"
#include "commands/commands.h"
#include "proca/compute/device.h"
#include "proca/core/interrupt.h"
#include "runtime_settings.h"

int main(int argc, char** argv) {
  using namespace proca::app;
  keep_freed_memory();
  shorten_openmp_spin(argc, argv);
  proca::catch_interrupts();
  const int code = run_command_line(argc, argv,
                                    {demo_command(),
                                     data_verify_command(),
                                     data_list_command(),
                                     data_pack_command(),
                                     data_make_demo_command(),
                                     pretrain_command(),
                                     adapt_command(),
                                     undo_command(),
                                     watch_command(),
                                     run_command(),
                                     reproduce_command(),
                                     experiment_command(),
                                     report_command(),
                                     evaluate_command(),
                                     predict_command(),
                                     inspect_command(),
                                     export_command(),
                                     methods_command(),
                                     presets_command(),
                                     bench_command(),
                                     bench_decode_command(),
                                     bench_load_command(),
                                     bench_iteration_command(),
                                     bench_training_command(),
                                     bench_inference_command(),
                                     bench_step_command()});
  proca::compute::finish_warm_up();  // CUDA's libraries must not be unloaded under it.
  return code;
}
