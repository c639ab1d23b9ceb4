// SPDX-License-Identifier: MIT
//
// `nvdla run`: a loadable on a device, from a file to a file.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "loadable/dimg.hpp"
#include "nvdla/error.hpp"
#include "nvdla/half.hpp"
#include "nvdla/loadable.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/picture.hpp"

namespace nvdla::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string loadable;
  std::vector<std::string> inputs;
  std::string output;
  std::string device;
  bool stats = false;
  bool json = false;
};

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw UsageError(fmt::format("cannot read '{}'", path));
  return bytes;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("cannot create '{}': {}", path, std::strerror(errno)));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) throw UsageError(fmt::format("cannot write '{}'", path));
}

const char* type_name(LoadableType type) {
  constexpr const char* kNames[] = {"unknown", "float", "fp16", "int16", "int8", "uint8", "uint16"};
  return kNames[static_cast<std::uint32_t>(type)];
}

std::string shape_text(const LoadableTensor& t) {
  return fmt::format("{}x{}x{} {}", t.shape.channels, t.shape.height, t.shape.width,
                     type_name(t.type));
}

// Bytes of the pixels of an image without gaps, in each plane.
std::pair<std::size_t, std::size_t> plane_bytes(const LoadableTensor& t) {
  const PixelLayout pixel = pixel_layout(static_cast<nvdla_pixel_format>(t.pixel_format));
  const std::size_t pixels = std::size_t{t.shape.width} * t.shape.height;
  return {pixels * pixel.bytes[0], pixels * pixel.bytes[1]};
}

// Components of a pixel of bytes, lowest address first; none for other formats.
std::string_view byte_order(std::uint32_t format) {
  switch (format) {
    case NVDLA_PIXEL_R8:
      return "R";
    case NVDLA_PIXEL_A8B8G8R8:
    case NVDLA_PIXEL_X8B8G8R8:
      return "RGBA";
    case NVDLA_PIXEL_A8R8G8B8:
    case NVDLA_PIXEL_X8R8G8B8:
      return "BGRA";
    case NVDLA_PIXEL_B8G8R8A8:
    case NVDLA_PIXEL_B8G8R8X8:
      return "ARGB";
    case NVDLA_PIXEL_R8G8B8A8:
    case NVDLA_PIXEL_R8G8B8X8:
      return "ABGR";
    default:
      return {};
  }
}

Picture picture_for(const LoadableTensor& t, const std::string& path,
                    const std::vector<std::uint8_t>& file, std::uint32_t channels) {
  Picture picture = decode_picture(path, file, channels);
  if (picture.width != t.shape.width || picture.height != t.shape.height) {
    throw UsageError(fmt::format("{}: {}x{} pixels, input '{}' takes {}x{}", path, picture.width,
                                 picture.height, t.name, t.shape.width, t.shape.height));
  }
  return picture;
}

// Pixels as they are, and opaque.
void write_image(LoadedNetwork& network, const LoadableTensor& t, const std::string& path,
                 const std::vector<std::uint8_t>& file) {
  const std::string_view order = byte_order(t.pixel_format);
  if (order.empty()) {
    const auto [first, second] = plane_bytes(t);
    throw UsageError(
        fmt::format("{}: input '{}' takes pixels of format {}: give them as a raw file of {} bytes",
                    path, t.name, pixel_format_name(t.pixel_format), first + second));
  }
  const Picture picture = picture_for(t, path, file, order.size() == 1 ? 1 : 3);
  std::vector<std::byte> plane;
  for (std::size_t at = 0; at < picture.pixels.size(); at += picture.channels) {
    for (const char component : order) {
      const std::size_t colour = std::string_view("RGB").find(component);
      plane.push_back(colour == std::string_view::npos
                          ? std::byte{255}
                          : static_cast<std::byte>(picture.pixels[at + colour]));
    }
  }
  network.write_pixels(t.name, plane);
}

// Pixels 0..255 as elements: fp16 and int16 as they are, int8 less 128.
void write_picture(LoadedNetwork& network, const LoadableTensor& t, const std::string& path,
                   const std::vector<std::uint8_t>& file) {
  if (t.image()) {
    write_image(network, t, path, file);
    return;
  }
  const std::uint32_t channels = t.shape.channels;
  if (channels != 1 && channels != 3) {
    throw UsageError(fmt::format("{}: a picture has 1 or 3 channels, input '{}' is {}", path,
                                 t.name, shape_text(t)));
  }
  const Picture picture = picture_for(t, path, file, channels);
  if (t.type == LoadableType::kInt8) {
    std::vector<std::int8_t> elements;
    for (const std::uint8_t p : picture.pixels) {
      elements.push_back(static_cast<std::int8_t>(p - 128));
    }
    network.write(t.name, Layout::kNhwc, elements);
  } else if (t.type == LoadableType::kInt16) {
    network.write(t.name, Layout::kNhwc,
                  std::vector<std::int16_t>(picture.pixels.begin(), picture.pixels.end()));
  } else {
    std::vector<std::uint16_t> elements;
    for (const std::uint8_t p : picture.pixels) elements.push_back(to_half(p));
    network.write(t.name, Layout::kNhwc, elements);
  }
}

template <typename T>
std::vector<T> elements_of(const std::vector<std::uint8_t>& file) {
  std::vector<T> elements(file.size() / sizeof(T));
  std::memcpy(elements.data(), file.data(), elements.size() * sizeof(T));
  return elements;
}

std::size_t element_bytes(LoadableType type) {
  if (type == LoadableType::kFloat) return 4;
  return type == LoadableType::kInt8 || type == LoadableType::kUint8 ? 1 : 2;
}

// Elements or pixels without gaps, or the bytes as they are in memory.
void write_raw(LoadedNetwork& network, const LoadableTensor& t, const std::string& path,
               const std::vector<std::uint8_t>& file) {
  std::uint64_t packed = t.shape.elements() * element_bytes(t.type);
  if (t.image()) {
    const auto [first, second] = plane_bytes(t);
    packed = first + second;
    if (file.size() == packed) {
      const auto bytes = std::as_bytes(std::span(file));
      network.write_pixels(t.name, bytes.first(first), bytes.subspan(first));
      return;
    }
  } else if (file.size() == packed) {
    if (t.type == LoadableType::kInt8) {
      network.write(t.name, Layout::kNchw, elements_of<std::int8_t>(file));
    } else if (t.type == LoadableType::kInt16) {
      network.write(t.name, Layout::kNchw, elements_of<std::int16_t>(file));
    } else {
      network.write(t.name, Layout::kNchw, elements_of<std::uint16_t>(file));
    }
    return;
  }
  if (file.size() != t.bytes) {
    throw UsageError(fmt::format(
        "{}: {} bytes, input '{}' ({}) takes {} ({}) or {} (as in memory); PNG and PGM are "
        "recognised by how they begin",
        path, file.size(), t.name, shape_text(t), packed,
        t.image() ? "pixels by plane, line, column" : "elements by channel, line, column",
        t.bytes));
  }
  const Map map = network.buffer(t.name).map(MapMode::kReadWrite);
  std::memcpy(map.data() + t.offset, file.data(), file.size());
}

// The value of each element as a number, by channel, line, column.
std::vector<double> values_of(const LoadedNetwork& network, const LoadableTensor& t) {
  const std::size_t count = static_cast<std::size_t>(t.shape.elements());
  std::vector<double> values;
  if (t.type == LoadableType::kInt8) {
    std::vector<std::int8_t> elements(count);
    network.read(t.name, Layout::kNchw, elements);
    values.assign(elements.begin(), elements.end());
  } else if (t.type == LoadableType::kInt16) {
    std::vector<std::int16_t> elements(count);
    network.read(t.name, Layout::kNchw, elements);
    values.assign(elements.begin(), elements.end());
  } else {
    std::vector<std::uint16_t> elements(count);
    network.read(t.name, Layout::kNchw, elements);
    for (const std::uint16_t half : elements) values.push_back(from_half(half));
  }
  return values;
}

template <typename T>
std::vector<std::byte> raw_elements(const LoadedNetwork& network, const LoadableTensor& t) {
  std::vector<T> elements(static_cast<std::size_t>(t.shape.elements()));
  network.read(t.name, Layout::kNchw, elements);
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

// `path` is as the user gave it: its end says how.
std::vector<std::byte> output_bytes(const LoadedNetwork& network, const LoadableTensor& t,
                                    const std::string& path) {
  if (path.ends_with(".dimg")) {
    const Map map = network.buffer(t.name).map(MapMode::kRead);
    return loadable::make_dimg(t, map.bytes());
  }
  if (path.ends_with(".mem")) {
    const Map map = network.buffer(t.name).map(MapMode::kRead);
    const auto bytes =
        map.bytes().subspan(static_cast<std::size_t>(t.offset), static_cast<std::size_t>(t.bytes));
    return {bytes.begin(), bytes.end()};
  }
  if (path.ends_with(".pgm")) {
    if (t.type != LoadableType::kInt8) {
      throw UsageError(fmt::format("{}: only int8 outputs can be a PGM; '{}' is {}", path, t.name,
                                   shape_text(t)));
    }
    // All channels below one another; the inverse of how pictures are read.
    const std::string header =
        fmt::format("P5\n{} {}\n255\n", t.shape.width, t.shape.height * t.shape.channels);
    const auto head = std::as_bytes(std::span(header));
    std::vector<std::byte> bytes(head.begin(), head.end());
    for (const double value : values_of(network, t)) {
      bytes.push_back(static_cast<std::byte>(static_cast<int>(value) + 128));
    }
    return bytes;
  }
  if (t.type == LoadableType::kInt8) return raw_elements<std::int8_t>(network, t);
  if (t.type == LoadableType::kInt16) return raw_elements<std::int16_t>(network, t);
  return raw_elements<std::uint16_t>(network, t);
}

// Says on a terminal that something slow goes on.
class Stopwatch {
 public:
  explicit Stopwatch(bool wanted) {
    if (wanted && isatty(STDERR_FILENO)) {
      thread_ = std::thread([this] { show(); });
    }
  }
  ~Stopwatch() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  void show() {
    std::unique_lock lock(mutex_);
    int seconds = 0;
    while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
      fmt::print(stderr, "\r\x1b[Krunning, {} s", ++seconds);
      std::fflush(stderr);
    }
    if (seconds != 0) fmt::print(stderr, "\r\x1b[K");
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

std::string numbered(const std::string& path, std::uint32_t index, std::uint32_t count) {
  return count == 1 ? path : fmt::format("{}.{}", path, index);
}

Json stats_json(const LoadedNetwork& network) {
  Json layers = Json::array();
  const auto statistics = network.statistics();
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    Json layer = {{"name", network.layer_name(i)},
                  {"nanoseconds", statistics[i].end_ns - statistics[i].start_ns},
                  {"worst_case_cycles", network.layer_cycles(i)},
                  {"counters", Json::object()}};
    for (std::uint32_t k = 0; k < NVDLA_COUNTER_COUNT; ++k) {
      if ((statistics[i].valid >> k & 1) == 0) continue;
      layer["counters"][std::string(counter_name(k))] = statistics[i].counter[k];
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

void print_stats(const Json& layers) {
  for (const Json& layer : layers) {
    fmt::print("{}: {} ns, at most {} cycles\n", layer["name"].get<std::string>(),
               layer["nanoseconds"].get<std::uint64_t>(),
               layer["worst_case_cycles"].get<std::uint64_t>());
    for (const auto& [name, value] : layer["counters"].items()) {
      fmt::print("  {:<22}{}\n", name, value.get<std::uint32_t>());
    }
  }
}

// Without --device the first configuration that the file was made for.
std::string choose_device(const Loadable& file, const std::string& asked) {
  if (!asked.empty()) return asked;
  if (file.configurations() == 0) return "model";
  return "model:" + std::string(file.configuration(0));
}

int run_loadable(const RunOptions& options) {
  const Loadable file = Loadable::load(options.loadable);
  const Device device = Device::open(choose_device(file, options.device));
  LoadedNetwork network = file.open(device, {.statistics = options.stats});
  if (options.inputs.empty() && file.inputs() != 0) {
    // As the old runtime runs, and as some golden outputs were made.
    fmt::print(stderr, "nvdla: no --input: {} of zeros\n",
               file.inputs() == 1 ? "an input" : fmt::format("{} inputs", file.inputs()));
  } else if (options.inputs.size() != file.inputs()) {
    std::string names;
    for (std::uint32_t i = 0; i < file.inputs(); ++i) {
      const LoadableTensor t = file.input(i);
      names += fmt::format("{}'{}' {}", i == 0 ? ": " : ", ", t.name, shape_text(t));
    }
    throw UsageError(fmt::format(
        "the loadable has {} input{}{}, but {} given by --input", file.inputs(),
        file.inputs() == 1 ? "" : "s", names,
        options.inputs.size() == 1 ? "1 is" : fmt::format("{} are", options.inputs.size())));
  }
  for (std::uint32_t i = 0; i < options.inputs.size(); ++i) {
    const std::vector<std::uint8_t> bytes = read_file(options.inputs[i]);
    if (is_picture(bytes)) {
      write_picture(network, file.input(i), options.inputs[i], bytes);
    } else {
      write_raw(network, file.input(i), options.inputs[i], bytes);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  {
    const Stopwatch progress(!options.json);
    network.run();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  Json document = {{"loadable", options.loadable},
                   {"configuration", device.info().configuration},
                   {"backend", device.info().backend},
                   {"seconds", seconds.count()},
                   {"outputs", Json::array()}};
  for (std::uint32_t i = 0; i < file.outputs(); ++i) {
    const LoadableTensor t = file.output(i);
    if (!options.output.empty()) {
      const std::string path = numbered(options.output, i, file.outputs());
      write_file(path, output_bytes(network, t, options.output));
    }
    Json output = {{"name", t.name},
                   {"channels", t.shape.channels},
                   {"height", t.shape.height},
                   {"width", t.shape.width},
                   {"type", type_name(t.type)}};
    if (options.json) {
      // JSON has no NaN and no infinity: null.
      output["values"] = values_of(network, t);
    } else {
      fmt::print("{}: {}\n", t.name, shape_text(t));
      if (options.output.empty()) {
        const std::vector<double> values = values_of(network, t);
        constexpr std::size_t kShown = 32;
        for (std::size_t k = 0; k < std::min(values.size(), kShown); ++k) {
          fmt::print("{}{:g}", k == 0 ? "  " : " ", values[k]);
        }
        fmt::print("{}\n",
                   values.size() > kShown
                       ? fmt::format(" ... ({} elements; --output writes all)", values.size())
                       : "");
      }
    }
    document["outputs"].push_back(std::move(output));
  }
  if (options.stats) document["layers"] = stats_json(network);
  if (options.json) {
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    if (options.stats) print_stats(document["layers"]);
    fmt::print("{} on {}, {:.3f} s\n", device.info().configuration, device.info().backend,
               seconds.count());
  }
  return kSuccess;
}

}  // namespace

Run add_run(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<RunOptions>();
  command = app.add_subcommand("run", "Run a loadable on a device");
  command->add_option("LOADABLE", options->loadable, "File to run")->required();
  command->add_option("--input,-i", options->inputs,
                      "PNG, PGM or raw file; one for each input, in their order, or none: zeros");
  command->add_option("--output,-o", options->output,
                      "Where the output goes: NAME.dimg as NVIDIA's golden files, NAME.pgm,\n"
                      "NAME.mem as in memory, else raw elements by channel, line, column");
  command->add_option(
      "--device,-d", options->device,
      "Such as model:nv_full or model:nv_full,threads=1; without, the model that the\n"
      "loadable was made for");
  command->add_flag("--stats", options->stats, "Print the counters of every layer");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Pixels of pictures, 0..255, become the same number in fp16 and int16, 128 less in int8,\n"
      "and the bytes of images whose components are bytes.\n"
      "Of several outputs the second goes to FILE.1 and so on, the first to FILE.0.");
  return [options] { return run_loadable(*options); };
}

}  // namespace nvdla::cli
