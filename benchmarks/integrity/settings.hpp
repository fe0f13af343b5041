#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strata::integrity {

/// A round to do again: what a finding says as "replay".
struct Replay {
    std::uint32_t kernel = 0;
    std::uint64_t seed = 0;
    int pu = -1;  // on every core under test
};

struct Settings {
    std::vector<std::uint32_t> kernels;  // their places in kernels()
    std::vector<int> pus;                // empty: all that this process may use
    std::uint64_t memory_bytes = 0;      // under test, of all workers together
    std::uint64_t seed = 0;
    double seconds = 0;        // 0: until a signal
    std::uint64_t rounds = 0;  // of each kernel on each core; 0: without end
    double progress_s = 60;
    std::string cgroup;  // "auto", "none", or the parent group's folder
    bool plain = false, verbose = false;
    bool yields = true;  // else an ordinary program
    bool alone = false;  // runs only while nobody else does
    std::vector<Replay> replays;
};

/// Reads the command line; nothing where only help was wanted. Throws Error.
[[nodiscard]] bool read_settings(int argc, char** argv, Settings& settings);

/// "KERNEL:SEED" or "KERNEL:SEED:CPU", several with spaces between; or a file with findings as lines of JSON.
[[nodiscard]] std::vector<Replay> read_replays(const std::string& text);
[[nodiscard]] std::string replay_text(std::uint32_t kernel, std::uint64_t seed, int pu);

}  // namespace strata::integrity
