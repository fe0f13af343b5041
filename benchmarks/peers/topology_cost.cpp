// What a start pays for the machine's topology: reading it with hwloc, and from the cache. For a topology in
// a file (hwloc's XML) the cost of the cache alone. Not part of the product:
//     cmake --build BUILD --target topology-cost && BUILD/benchmarks/topology-cost [FILE.xml]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/machine/topology.hpp"
#include "core/machine/topology_cache.hpp"
#include "core/machine/topology_form.hpp"

namespace {

using namespace strata::machine;

/// Median of 101 calls in ms; the first, which meets cold caches as a start does, is told apart.
template <class F>
void tell(const char* what, F&& call) {
    constexpr int calls = 101;
    std::vector<double> times;
    double first = 0;
    for (int i = 0; i < calls; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        if (i == 0) first = times.front();
    }
    std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
    fmt::print("{:<28} {:.3f} ms (first {:.3f})\n", what, times[calls / 2], first);
}

void measure(const std::string& source) {
    Machine machine;
    machine.source = source;
    read_topology({source}, machine);
    size_t pus = 0;
    for (const Core& core : machine.cores) pus += core.pus.size();
    const std::string body = encode_topology(machine), key = topology_key();
    fmt::print("{}: {} PUs, {} domains, {} bytes\n", source, pus, machine.domains.size(), body.size());

    std::string folder = (std::filesystem::temp_directory_path() / "strata-cost-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw strata::Error("no temporary folder", strata::kFailure);
    const std::string file = folder + "/topology-0";
    bool good = store_topology_cache(file, key, machine);
    tell("key of this moment", [&] { good = good && topology_key() == key; });
    tell("cache: read, check, decode", [&] {
        Machine found;
        good = good && load_topology_cache(file, key, found) && found.cores.size() == machine.cores.size();
    });
    tell("decode alone", [&] {
        Machine found;
        good = good && decode_topology(body, found);
    });
    tell("encode and write", [&] { good = good && store_topology_cache(file, key, machine); });
    if (source == "system")
        tell("hwloc", [&] {
            Machine found;
            read_topology({}, found);
        });
    std::filesystem::remove_all(folder);
    if (!good) throw strata::Error("a cache did not hold", strata::kFailure);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        measure(argc > 1 ? argv[1] : "system");
        return 0;
    } catch (const strata::Error& error) {
        fmt::print(stderr, "{}", error.text());
        return error.exit_code();
    }
}
