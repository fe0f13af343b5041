// The facts about a machine: what it has, and what this process may use of it. Plain data, the same as the
// document strata.machine/1 (docs/formats.md). An index is the place in its list, which for all but domains,
// memories and kinds of cores is hwloc's logical number; names that start with os_ are the system's, which
// PUs and memories have wherever a person sees or gives one. Sizes are bytes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::machine {

struct Package {
    int index = 0;
    int os_index = 0;
    std::vector<int> pus;
};

/// The cores that share their nearest memory. It may have several memories (DRAM and HBM).
struct Domain {
    int index = 0;
    std::vector<int> pus;
    std::vector<int> cores;
    std::vector<int> memories;
};

struct HugePagePool {
    std::uint64_t size_bytes = 0;
    std::uint64_t total = 0;
    std::uint64_t free = 0;
};

/// Memories stand in the order of the system's numbers.
struct Memory {
    int index = 0;
    int os_index = 0;
    std::string kind = "unknown";  // DRAM, HBM, CXL, NVM, GPU or unknown
    std::uint64_t total_bytes = 0;
    std::optional<std::uint64_t> free_bytes, page_cache_bytes;
    std::optional<int> domain;  // none: a memory without cores of its own
    int nearest_domain = 0;
    std::vector<HugePagePool> huge_pages;
};

/// Relative distances between memories, 10 = local, as the firmware states them (ACPI SLIT).
struct Distances {
    std::vector<int> memories;
    std::vector<std::vector<double>> matrix;
    std::string source;
};

struct Cache {
    int level = 0;
    std::string type;  // unified, data or instruction
    std::uint64_t size_bytes = 0;
    int line_bytes = 64;
    int ways = 0;  // 0: not known; -1: any line may be anywhere
    std::vector<int> cores;
};

struct Core {
    int index = 0;
    int os_index = 0;
    int package = 0;
    int die = 0;  // counted over all packages; the package itself where it has no dies
    int domain = 0;
    int kind = 0;
    std::vector<int> pus;
    std::optional<int> base_mhz, max_mhz;
    std::optional<std::string> governor;
};

/// Cores that are alike; a hybrid processor has several kinds. A higher efficiency number is a faster core.
struct CoreKind {
    int index = 0;
    int efficiency = -1;
    std::vector<int> cores;
    std::vector<std::pair<std::string, std::string>> info;
};

struct Device {
    std::string type;  // gpu, network, storage or other
    std::string name;
    std::string info;
    std::optional<int> domain;
};

/// The smallest limits along a cgroup path; version is empty where no cgroup says anything.
struct Cgroup {
    std::optional<int> version;
    std::string path;
    std::optional<std::string> cpuset, mems;
    std::optional<std::uint64_t> memory_limit_bytes;
    std::optional<double> cpu_quota;  // CPUs' worth of time
};

struct Allowed {
    std::vector<int> pus;
    std::vector<int> memories;  // os_index of the memories
    double cpus_effective = 0;  // the smaller of the PUs allowed and the quota
    Cgroup cgroup;
};

struct HugePages {
    std::optional<std::string> transparent, shmem;
    std::uint64_t default_size_bytes = 0;
};

struct Counters {
    std::optional<int> paranoid;
    bool software = false;
    bool hardware = false;
    std::vector<std::string> events;  // those that opened when tried
    std::string why;
};

/// Whether pages can be placed and their place read back here.
struct PagePlacement {
    bool mbind = false;
    bool move_pages = false;
    std::string why;
    [[nodiscard]] const char* word() const {
        return mbind && move_pages ? "verifiable" : "placement unverified";
    }
};

struct Privileges {
    bool cgroup_cpu_writable = false;
    bool cgroup_cpuset_writable = false;
    bool autogroup = false;       // the kernel groups sessions
    bool autogroup_nice = false;  // and this process may raise a session's weight
};

struct Machine {
    std::string source = "system";  // system, xml:FILE or synthetic:STRING
    std::string hostname, kernel, os, arch, cpu_model;
    std::optional<std::string> virtualisation, container;
    std::vector<Package> packages;
    std::vector<Domain> domains;
    std::vector<Memory> memories;
    std::optional<Distances> distances;
    std::vector<Cache> caches;
    std::vector<Core> cores;
    std::vector<CoreKind> core_kinds;
    std::vector<Device> devices;
    Allowed allowed;
    HugePages huge_pages;
    Counters counters;
    PagePlacement placement;
    Privileges privileges;
    std::optional<bool> turbo;
    std::optional<int> numa_balancing;

    [[nodiscard]] bool is_system() const { return source == "system"; }
};

/// Where the facts come from: the system ("system"), an hwloc XML file ("FILE.xml") or "synthetic:STRING".
/// `with_devices` and `with_limits` cost some milliseconds each; the launcher does without.
struct Source {
    std::string text = "system";
    bool with_devices = true;
    bool with_limits = true;
    /// For the system: what hwloc found at an earlier start, where that still holds (topology_cache.hpp).
    bool cached = false;
    /// For the system: hwloc looks again, and what it finds is left for the next start.
    bool recached = false;
};

/// Throws Error where the file or the description cannot be read.
[[nodiscard]] Machine read_machine(const Source& source = {});

/// The document strata.machine/1.
void machine_json(std::ostream& out, const Machine& machine);

/// The same for people, as a table.
[[nodiscard]] std::string machine_table(const Machine& machine);

}  // namespace strata::machine
