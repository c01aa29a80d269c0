#include <cstdio>
#include <cstdlib>

#include "command.h"
#include "commands/commands.h"
#include "proca/compute/device.h"
#include "proca/core/interrupt.h"

int main(int argc, char** argv) {
  using namespace proca::app;
  proca::catch_interrupts();
  const int code =
      run_command_line(argc, argv, {demo_command(),           data_verify_command(),
                                    data_list_command(),      data_pack_command(),
                                    data_make_demo_command(), pretrain_command(),
                                    adapt_command(),          run_command(),
                                    reproduce_command(),      report_command(),
                                    evaluate_command(),       predict_command(),
                                    inspect_command(),        export_command(),
                                    methods_command(),        presets_command(),
                                    bench_command(),          bench_decode_command(),
                                    bench_load_command(),     bench_iteration_command(),
                                    bench_training_command(), bench_inference_command(),
                                    bench_step_command()});
  // Taking a GPU's context down in good order takes a third of a second, and the operating
  // system does it anyway. Everything is written and closed by now. A context that is still
  // being made would not survive its libraries.
  constexpr bool kMakesEarlyContext = PROCA_MAKES_EARLY_CONTEXT;
  if (kMakesEarlyContext || proca::compute::is_gpu_in_use()) {
    std::fflush(nullptr);
    std::_Exit(code);
  }
  return code;
}
