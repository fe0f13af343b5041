// The layout that a user asks for, and the placement that follows from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/launch/memory_policy.hpp"

namespace strata::launch {

/// How wide a thread's set of PUs is: its core, or the cache, memory domain or package around that core; a PU
/// of a list; or everything that may be used.
enum class Bind { core, cache, numa, package, none, list };

/// Processes x threads, the distance between neighbouring threads in cores, and whether they are held there.
struct Layout {
    int processes = 1;
    int threads = 1;
    int stride = 1;
    Bind bind = Bind::core;
    Numbers list = {};  // the PUs of Bind::list, in the order in which threads take them
};

/// Reads "PxT", e.g. "36x4": 36 processes of 4 threads. Throws Error for anything else.
Layout parse_layout(std::string_view text);
/// Sets the way to bind from "core", "cache", "numa", "package", "none", a list of PUs or a string of
/// likwid's (likwid.hpp). Throws Error.
void parse_bind(std::string_view text, Layout& layout);
std::string to_text(const Layout& layout);
/// The way to bind, as parse_bind reads it.
std::string bind_text(const Layout& layout);

struct Placement {
    Layout layout;
    /// [process][thread] -> the PUs that this thread may use, by the system's numbers.
    std::vector<std::vector<std::vector<int>>> threads;
    /// [process] -> where its pages go; empty when nothing was asked.
    std::vector<Memories> memory;
    /// One line for each decision that led here.
    std::vector<std::string> why;

    /// All PUs of one process, ascending.
    [[nodiscard]] std::vector<int> pus(int process) const;
    /// All PUs of the placement, ascending.
    [[nodiscard]] std::vector<int> pus() const;
    /// The memories for the pages of one process.
    [[nodiscard]] Memories memory_of(int process) const;
};

/// A placement as one word, for the launcher's own ranks, so that they need not read the topology again:
/// processes by ';', threads by ':', each a CPU list; then '@' and the memories.
std::string encode(const Placement& placement);
Placement decode(const std::string& word, const Layout& layout);

}  // namespace strata::launch
