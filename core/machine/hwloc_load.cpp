#include "core/machine/hwloc_load.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/in_a_child.hpp"

namespace strata::machine {
namespace {

constexpr const char* kSynthetic = "synthetic:";

/// A variable of the environment for hwloc alone: what the user set stays, and what is set here is gone again
/// before any other program is started.
class ForHwloc {
  public:
    ForHwloc(const char* name, const char* value) : name_(getenv(name) == nullptr ? name : nullptr) {
        if (name_ != nullptr) setenv(name_, value, 1);
    }
    ~ForHwloc() {
        if (name_ != nullptr) unsetenv(name_);
    }
    ForHwloc(const ForHwloc&) = delete;
    ForHwloc& operator=(const ForHwloc&) = delete;

  private:
    const char* name_;
};

#if HWLOC_API_VERSION >= 0x00020100
constexpr unsigned long kAllOfIt = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
#else
constexpr unsigned long kAllOfIt = HWLOC_TOPOLOGY_FLAG_WHOLE_SYSTEM;  // its name before 2.1
#endif

constexpr int kMostNumber = 1 << 20;  // of PUs: lists by number are made of them
constexpr const char* kSources = "system, an hwloc XML file, or synthetic:DESCRIPTION";
constexpr const char* kWritten = "lstopo machine.xml writes such a file, and so does strata machine --xml";

/// How many PUs a description such as "package:2 [numa] core:8(size=1) pu:2" asks for: the product of its
/// counts.
double described_pus(const std::string& description) {
    double product = 1;
    int depth = 0;  // brackets hold what is attached or said, not levels
    for (size_t i = 0; i < description.size(); ++i) {
        const char c = description[i];
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        const bool begins = i == 0 || description[i - 1] == ':' || description[i - 1] == ' ';
        if (depth == 0 && begins && c >= '0' && c <= '9')
            product *= std::strtod(description.c_str() + i, nullptr);
    }
    return product;
}

void describe_synthetic(hwloc_topology_t topology, const std::string& text) {
    const std::string description = text.substr(std::string(kSynthetic).size());
    constexpr double most =
        1 << 16;  // PUs; no node has a tenth of it, and hwloc would take hours and all memory
    if (described_pus(description) > most) {
        throw Error("this synthetic topology is larger than any machine")
            .given(text)
            .allowed(fmt::format("up to {:.0f} PUs", most))
            .remedy("smaller counts");
    }
    if (hwloc_topology_set_synthetic(topology, description.c_str()) == 0) return;
    throw Error("not a synthetic topology")
        .given(text)
        .allowed("hwloc's form, such as \"synthetic:package:2 numa:4 l3:2 core:8 pu:1\"")
        .remedy("levels from the outside in, each with how many of it the level around it has; pu last");
}

/// Whether hwloc dies of this file: 2.9 ends in a segmentation fault when an object that holds others lacks
/// its complete_cpuset, and takes what memory there is for a processor of a large number. A process of its
/// own tries it (a millisecond), with limits.
bool kills_hwloc(const std::string& path, off_t bytes) {
    return !in_a_child([&] {
        hwloc_topology_t topology = nullptr;
        if (hwloc_topology_init(&topology) != 0) return "";
        // Only now: libraries that plug-ins of hwloc bring do not count.
        claim_at_most((std::size_t{64} << 20) + 8 * static_cast<std::size_t>(bytes));
        if (hwloc_topology_set_xml(topology, path.c_str()) == 0) (void)hwloc_topology_load(topology);
        return "";
    });
}

/// What comes after `name` in a text, up to the first of the characters `end`; empty where it is not there.
std::string after(const std::string& text, const std::string& name, const char* end) {
    const size_t at = text.find(name);
    if (at == std::string::npos) return "";
    const size_t from = at + name.size();
    return text.substr(from, text.find_first_of(end, from) - from);
}

/// The first kilobytes of a file.
std::string start_of(const std::string& path) {
    std::string start(4096, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<size_t>(file.gcount()));
    return start;
}

/// hwloc 3 writes another form, which hwloc 2 does not read.
void refuse_later_version(const std::string& path, const std::string& start) {
    const std::string version = after(after(start, "<topology", ">"), "version=\"", "\"");
    const unsigned known = hwloc_get_api_version() >> 16;
    if (std::strtoul(version.c_str(), nullptr, 10) <= known) return;
    throw Error(
        "this topology file is in a later form of hwloc's XML than the hwloc that Strata uses can read")
        .at(path)
        .given(fmt::format("version {}", version))
        .allowed(fmt::format("version {} or earlier", known))
        .remedy(fmt::format("on the machine that it describes: lstopo --export-xml-flags v{} machine.xml",
                            known));
}

[[noreturn]] void refuse_no_xml(const std::string& path, const std::string& start) {
    const size_t first = start.find_first_not_of(" \t\r\n");
    constexpr size_t shown = 40;
    const std::string line = first == std::string::npos ? "" : start.substr(first, shown);
    throw Error("not an hwloc XML file")
        .at(path)
        .given(line.empty() ? "an empty file"
                            : "a file that begins: " + line.substr(0, line.find_first_of("\r\n")))
        .allowed(kSources)
        .remedy(kWritten);
}

void describe_file(hwloc_topology_t topology, const std::string& path) {
    struct stat status {};
    int error = access(path.c_str(), R_OK) != 0 || stat(path.c_str(), &status) != 0 ? errno : 0;
    if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
    if (error != 0) {
        throw system_error("the topology file cannot be read", error, kBadInput)
            .at(path)
            .allowed(kSources)
            .remedy(error == EISDIR ? kWritten : "check the path and its permissions");
    }
    const std::string start = start_of(path);
    refuse_later_version(path, start);
    if (kills_hwloc(path, status.st_size)) {
        throw Error("hwloc does not survive reading this topology file")
            .at(path)
            .allowed("a complete hwloc topology")
            .remedy(kWritten);
    }
    if (hwloc_topology_set_xml(topology, path.c_str()) != 0) refuse_no_xml(path, start);
}

/// For this system: what hwloc learns from /sys and /proc is wanted, and nothing that costs more. Its x86
/// part moves the process over every PU to ask each about itself, behind whatever runs there (half of a start
/// of 20 ms on 2 busy PUs).
void describe_system(hwloc_topology_t topology) {
#if HWLOC_API_VERSION >= 0x00020100
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#else
    (void)topology;
#endif
}

}  // namespace

HwlocTopology load_topology(const std::string& source, bool system_devices) {
    const bool system = source == "system";
    // hwloc would describe some faults on standard error by itself; the errors below are what people should
    // read.
    const ForHwloc quiet("HWLOC_HIDE_ERRORS", "2");
    // Its plug-ins pull in X11, OpenCL and the libraries of GPUs; only libxml2 is of use, for files.
    std::optional<ForHwloc> bare;
    if (system) bare.emplace("HWLOC_PLUGINS_PATH", "/nonexistent");

    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) throw Error("hwloc cannot start", kFailure);
    HwlocTopology topology(raw);
    if (!system || system_devices) hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (system) {
        describe_system(raw);
        // What this process may not use is part of the machine too; `allowed` says which it is.
        hwloc_topology_set_flags(raw, kAllOfIt);
    } else if (source.rfind(kSynthetic, 0) == 0) {
        describe_synthetic(raw, source);
    } else {
        describe_file(raw, source);
    }
    if (hwloc_topology_load(raw) != 0) {
        if (system) throw Error("hwloc cannot read this machine's topology", kFailure);
        const bool file = source.rfind(kSynthetic, 0) != 0;
        if (const std::string start = start_of(source); file && start.find("<topology") == std::string::npos)
            refuse_no_xml(source, start);
        throw Error("the topology cannot be read")
            .at(source)
            .allowed("a complete hwloc topology")
            .remedy(kWritten);
    }
    if (const int last = hwloc_bitmap_last(hwloc_topology_get_complete_cpuset(raw)); last >= kMostNumber) {
        throw Error("a PU has a number that none has")
            .at(source)
            .given(fmt::format("PU {}", last))
            .allowed(fmt::format("numbers below {}", kMostNumber))
            .remedy(kWritten);
    }
    if (system && hwloc_topology_is_thissystem(raw) == 0) {
        throw Error("the environment has hwloc describe another machine than this one")
            .allowed("HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT and HWLOC_THISSYSTEM not set")
            .remedy("strata machine --input FILE.xml");
    }
    return topology;
}

}  // namespace strata::machine
