#pragma once

#include <filesystem>
#include <string>

#include "proca/engine/adapter.h"
#include "proca/methods/method.h"

namespace proca::engine {

/// The weight file that the first step starts from; empty for the source model. Throws
/// `InvalidOption` when weights are asked for and none are given.
std::string start_weights_of(const AdaptOptions& options);

/// Makes a network that holds the source model what the method's first step starts from:
/// itself, or a fresh one with the weights of a file. `folder` is the state's.
void start_network(models::ClassifierNetwork& network, const AdaptOptions& options,
                   const methods::MethodSpec& method, const state::ModelDescription& description,
                   const std::filesystem::path& folder);

}  // namespace proca::engine
