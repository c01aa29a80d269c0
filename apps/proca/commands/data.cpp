#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "core/counted.h"
#include "core/json_text.h"
#include "core/parallel.h"
#include "data/source/list_file.h"
#include "data/source/packed_file.h"
#include "data/source/verify.h"
#include "demo/demo_data.h"
#include "output_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"

namespace proca::app {
namespace {

// Every data command takes one PATH.
struct DataOptions {
  std::vector<std::string> paths;
  std::string root;
  int64_t threads = available_cores();
  bool unlabelled = false;

  void bind(OptionSet& set) {
    set.bind_positional("path", paths, "folder per class, folder of images, list or packed file");
    set.require();
    set.bind("root", root, "folder that the paths of a list file are relative to", "DIR");
    set.bind("unlabelled", unlabelled, "all images below a folder, without labels");
    set.bind("threads", threads, "threads that decode", 1, 4096);
  }
  const std::string& path() const {
    if (paths.size() > 1) {
      throw InvalidOption(fmt::format("takes one path, \"{}\" is one too many", paths[1]));
    }
    return paths.front();
  }
  std::unique_ptr<data::ImageSource> open() const {
    const auto labels = unlabelled ? data::Labels::kIgnored : data::Labels::kOptional;
    return data::open_images(std::filesystem::path(path()), {.labels = labels, .root = root});
  }
};

nlohmann::ordered_json to_json(const data::VerifyReport& report,
                               const data::ImageListing& listing) {
  nlohmann::ordered_json json;
  json["path"] = listing.origin;
  json["images"] = report.num_images;
  json["classes"] = listing.num_classes();
  const auto counts = listing.count_per_class();
  for (size_t label = 0; label < counts.size(); ++label) {
    json["per_class"][listing.class_names[label]] = counts[label];
  }
  json["duplicates"] = report.duplicates;
  json["bad"] = nlohmann::json::array();
  for (const auto& bad : report.bad) {
    json["bad"].push_back({{"path", bad.path}, {"reason", bad.reason}});
  }
  json["unsupported"] = listing.unsupported;
  return json;
}

void print(const data::VerifyReport& report, const data::ImageListing& listing) {
  std::cout << fmt::format("{}: {}", listing.origin, counted(report.num_images, "image"));
  if (listing.labelled()) std::cout << ", " << counted(listing.num_classes(), "class");
  if (report.max_width > 0) {
    std::cout << fmt::format(", {} to {} pixels wide, {} to {} high", report.min_width,
                             report.max_width, report.min_height, report.max_height);
  }
  std::cout << '\n';
  const auto counts = listing.count_per_class();
  for (size_t label = 0; label < counts.size(); ++label) {
    std::cout << fmt::format("{:>6} {}\n", counts[label], listing.class_names[label]);
  }
  for (const auto& group : report.duplicates) {
    std::cout << "same picture:\n";
    for (const auto& path : group) std::cout << "  " << path << '\n';
  }
  for (const auto& bad : report.bad) std::cout << "bad: " << bad.reason << '\n';
  for (const auto& path : listing.unsupported) std::cout << "not supported: " << path << '\n';
  std::cout << fmt::format("{} bad, {} of duplicates\n", report.bad.size(),
                           counted(std::ssize(report.duplicates), "group"));
}

}  // namespace

Command data_verify_command() {
  struct Options : DataOptions {
    bool json = false;
  };
  return {
      "data verify", "decode everything; count classes, duplicates and bad files",
      [](OptionSet& set) {
        const auto options = std::make_shared<Options>();
        options->bind(set);
        set.bind("json", options->json, "print JSON");
        return [options] {
          const auto source = options->open();
          const auto report = data::verify_images(*source, options->threads);
          if (options->json) {
            std::cout << json_text(to_json(report, source->listing()));
          } else {
            print(report, source->listing());
          }
          if (!report.bad.empty()) {
            throw InputError(fmt::format("{}: {} of {} images cannot be decoded", options->path(),
                                         report.bad.size(), report.num_images));
          }
        };
      }};
}

Command data_list_command() {
  struct Options : DataOptions {
    std::string out;
  };
  return {"data list", "write a list file (path label per line)", [](OptionSet& set) {
            const auto options = std::make_shared<Options>();
            options->bind(set);
            set.bind("out", options->out, "file to write; standard output if not given", "FILE");
            return [options] {
              namespace fs = std::filesystem;
              if (!options->out.empty()) prepare_output(options->out, options->paths);
              auto listing = options->open()->listing();
              // Paths are read relative to the list's folder, so that is how they are written.
              const auto folder = options->out.empty() ? fs::current_path()
                                                       : fs::absolute(options->out).parent_path();
              for (auto& sample : listing.samples) {
                sample.path = fs::absolute(sample.path).lexically_normal().string();
              }
              const auto text = data::format_list_file(listing, folder.lexically_normal());
              if (options->out.empty()) {
                std::cout << text;
              } else {
                write_file(options->out, text);
              }
            };
          }};
}

Command data_pack_command() {
  struct Options : DataOptions {
    std::string out;
    data::PackOptions pack;
  };
  return {
      "data pack", "write all images to one memory-mapped file", [](OptionSet& set) {
        const auto options = std::make_shared<Options>();
        options->bind(set);
        set.bind("out", options->out, "file to write", "FILE");
        set.require();
        set.bind_choice<data::PackedEncoding>(
            "keep", options->pack.encoding,
            "pixels at --image-size (nothing to decode later) or the image files themselves",
            {{"pixels", data::PackedEncoding::kPixels}, {"files", data::PackedEncoding::kEncoded}});
        set.bind("image-size", options->pack.image_size,
                 "pixels are packed at this size, square; smaller images as they are", 1, 8192);
        set.bind_choice<data::Orientation>(
            "orientation", options->pack.orientation,
            "of pixels: turned as the EXIF orientation says, or as stored",
            {{"upright", data::Orientation::kUpright}, {"stored", data::Orientation::kStored}});
        return [options] {
          options->pack.threads = options->threads;
          prepare_output(options->out, options->paths);
          const auto source = options->open();
          data::write_packed_file(options->out, *source, options->pack);
          std::cout << fmt::format(
              "{}: {}, {}, {:.1f} MB\n", options->out, counted(source->listing().size(), "image"),
              counted(source->listing().num_classes(), "class"),
              static_cast<double>(std::filesystem::file_size(options->out)) / 1e6);
        };
      }};
}

Command data_make_demo_command() {
  struct Options {
    std::string out;
    demo::DemoDataOptions demo;
    int64_t seed = 0;
  };
  return {
      "data make-demo", "draw the demo data set: sketches and photos", [](OptionSet& set) {
        const auto options = std::make_shared<Options>();
        set.bind("out", options->out, "folder to create", "DIR");
        set.require();
        set.bind("image-size", options->demo.image_size, "pixels, square", 32, 64);
        set.bind("source-per-class", options->demo.source_per_class, "sketches per class", 1, 9999);
        set.bind("target-per-class", options->demo.target_per_class, "photos per class", 1, 9999);
        set.bind("seed", options->seed, "of every random choice", 0);
        return [options] {
          options->demo.seed = static_cast<uint64_t>(options->seed);
          demo::write_demo_data(options->out, options->demo);
          std::cout << fmt::format("{0}/sketch, {0}/photo: {1} classes\n", options->out,
                                   demo::demo_class_names().size());
        };
      }};
}

}  // namespace proca::app
