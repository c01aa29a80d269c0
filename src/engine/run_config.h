#pragma once

#include <string>

#include "proca/config/options.h"
#include "proca/data/image_store.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

// What decides a result, as text: a run that was cut off goes on only with the
// same. The text is kept in the state, so that a difference can be named.

/// The options that decide the result. How many threads, which device, how much
/// memory and how often to save may change between a run and its continuation.
std::string deciding_options(const OptionSet& options);

std::string digest(const std::string& text);

/// One line that changes when the images do: by name and label.
std::string describe_images(const data::ImageListing& listing);
/// The same by name and content. Of a large set only some images are looked at.
std::string describe_content(const data::ImageStore& store);

/// A hash of the pixels of all images, in order.
uint64_t hash_pixels(const data::ImageStore& store, int64_t threads);

/// Throws an `InputError` that names the first line of `file` of the state that
/// `mine` differs in; `advice` says what to do.
[[noreturn]] void refuse_other_options(const std::string& where, const std::string& what,
                                       const std::string& theirs, const std::string& mine,
                                       const std::string& advice);

/// A path given as a pattern, with `meaning` wherever it has `word` (`{seed}`).
std::string with_meaning(std::string pattern, const std::string& word, const std::string& meaning);

}  // namespace proca::engine
