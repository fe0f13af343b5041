// How much the last-level caches of a machine hold, as its kernel says.
#include "core/machine/last_cache.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.hpp"

namespace {

/// A folder as /sys/devices/system/cpu, gone with it.
struct Cpus {
    std::filesystem::path at;
    Cpus() {
        std::string name = (std::filesystem::temp_directory_path() / "strata-cpus-XXXXXX").string();
        at = mkdtemp(name.data());
    }
    ~Cpus() { std::filesystem::remove_all(at); }
    Cpus(const Cpus&) = delete;
    Cpus& operator=(const Cpus&) = delete;

    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((at / file).parent_path());
        std::ofstream(at / file) << text << '\n';
    }
    void cache(int cpu, int index, int level, const std::string& size, const std::string& shared) const {
        const std::string folder = "cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
        write(folder + "level", std::to_string(level));
        write(folder + "size", size);
        write(folder + "shared_cpu_list", shared);
    }
};

}  // namespace

TEST_CASE("last-level caches are counted once each, of CPUs that are online") {
    const Cpus cpus;
    CHECK(strata::machine::last_level_caches(cpus.at.string()) == 0);  // the kernel says nothing
    cpus.write("online", "0-3,6");
    for (const int cpu : {0, 1, 2, 3, 4, 6}) cpus.cache(cpu, 0, 1, "48K", std::to_string(cpu));
    for (const int cpu : {0, 1}) cpus.cache(cpu, 3, 3, "32768K", "0-1");
    for (const int cpu : {2, 3}) cpus.cache(cpu, 3, 3, "16M", "2-3");
    cpus.cache(4, 3, 3, "32768K", "4");  // not online
    // CPU 6 has but the one of level 1.
    CHECK(strata::machine::last_level_caches(cpus.at.string()) == ((32U + 16U) << 20U) + (48U << 10U));
}
