#include "core/launch/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/error.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

/// More threads than this on one node is a slip of the finger, and the products below stay far from overflow.
constexpr int kMost = 1 << 16;

bool read_count(std::string_view text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kMost;
}

std::string plural(long n, const char* one, const char* many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
}

/// The largest layout of the same shape that fits: threads kept if one process fits, then the stride given
/// up.
std::string largest_fitting(const Layout& asked, long cores) {
    const auto describe = [&](int stride) {
        const long places = (cores - 1) / stride + 1;
        const long processes = std::min<long>(asked.processes, places / asked.threads);
        const std::string shape = processes >= 1 ? fmt::format("{}x{}", processes, asked.threads)
                                                 : fmt::format("1x{}", std::min<long>(asked.threads, places));
        return stride == 1 ? shape : fmt::format("{} with stride {}", shape, stride);
    };
    if (asked.stride == 1) return describe(1);
    return fmt::format("{}, or {} with stride 1", describe(asked.stride), describe(1));
}

[[noreturn]] void refuse(const Layout& layout, const std::vector<Core>& cores) {
    const long count = static_cast<long>(cores.size());
    const bool siblings = std::any_of(cores.begin(), cores.end(), [](const Core& c) { return c.size() > 1; });
    std::string given = fmt::format("--layout {}", to_text(layout));
    if (layout.stride != 1) given += fmt::format(" --stride {}", layout.stride);
    given += fmt::format(", which needs {}", plural(cores_spanned(layout), "core", "cores"));
    throw Error("the layout is larger than what this process may use")
        .given(given)
        .allowed(fmt::format("{}{}", plural(count, "core", "cores"),
                             siblings ? " (SMT siblings are not counted as cores)" : ""))
        .remedy(fmt::format(
            "--layout {}, the largest of this shape that fits; or --bind none to let the system place {}",
            largest_fitting(layout, count),
            plural(static_cast<long>(layout.processes) * layout.threads, "thread", "threads")));
}

}  // namespace

Layout parse_layout(std::string_view text) {
    Layout layout;
    const size_t x = text.find('x');
    if (x == std::string_view::npos || !read_count(text.substr(0, x), layout.processes) ||
        !read_count(text.substr(x + 1), layout.threads)) {
        throw Error("the layout is not of the form PxT")
            .given(fmt::format("--layout {}", text))
            .allowed(fmt::format("processes x threads, both from 1 to {}", kMost))
            .remedy("--layout 2x1 for two processes of one thread");
    }
    return layout;
}

Bind parse_bind(std::string_view text) {
    if (text == "core") return Bind::core;
    if (text == "none") return Bind::none;
    throw Error("unknown way to bind")
        .given(fmt::format("--bind {}", text))
        .allowed("core, none")
        .remedy("--bind core");
}

std::string to_text(const Layout& layout) { return fmt::format("{}x{}", layout.processes, layout.threads); }

std::string to_text(Bind bind) { return bind == Bind::core ? "core" : "none"; }

std::vector<int> Placement::pus(int process) const {
    std::vector<int> all;
    for (const auto& thread : threads.at(static_cast<size_t>(process)))
        all.insert(all.end(), thread.begin(), thread.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<int> Placement::pus() const {
    std::vector<int> all;
    for (int p = 0; p < static_cast<int>(threads.size()); ++p) {
        const std::vector<int> own = pus(p);
        all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<Core> allowed_cores(const machine::Machine& machine) {
    std::vector<Core> cores;
    for (const machine::Core& core : machine.cores) {
        Core allowed;
        for (const int pu : core.pus)
            if (std::binary_search(machine.allowed.pus.begin(), machine.allowed.pus.end(), pu))
                allowed.push_back(pu);
        if (!allowed.empty()) cores.push_back(std::move(allowed));
    }
    return cores;
}

long cores_spanned(const Layout& layout) {
    return (static_cast<long>(layout.processes) * layout.threads - 1) * layout.stride + 1;
}

Placement place(const std::vector<Core>& cores, const Layout& layout) {
    Placement placement{layout, {}};
    placement.threads.resize(static_cast<size_t>(layout.processes));
    if (layout.bind == Bind::none) {
        Core everything;
        for (const Core& core : cores) everything.insert(everything.end(), core.begin(), core.end());
        std::sort(everything.begin(), everything.end());
        for (auto& process : placement.threads)
            process.assign(static_cast<size_t>(layout.threads), everything);
        return placement;
    }
    if (cores_spanned(layout) > static_cast<long>(cores.size())) refuse(layout, cores);
    size_t core = 0;
    for (auto& process : placement.threads) {
        for (int i = 0; i < layout.threads; ++i, core += static_cast<size_t>(layout.stride))
            process.push_back({cores[core].front()});
    }
    return placement;
}

Placement place(const machine::Machine& machine, const Layout& layout) {
    return place(allowed_cores(machine), layout);
}

}  // namespace strata::launch
