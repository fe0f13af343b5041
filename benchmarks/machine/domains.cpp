// Domain by domain: latency and bandwidth of each domain's cores in each memory (the matrix behind "485 ns
// and 100 ns a hop").
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/common/threads.hpp"
#include "benchmarks/hpcc/stream_kernels.hpp"
#include "benchmarks/machine/chase.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/placing.hpp"
#include "benchmarks/machine/statistics.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/page_placement.hpp"

namespace strata::bench::machine_measures {
namespace {

constexpr std::size_t kLine = 64;
constexpr double kQ = 3.0;

/// Memory whose pages are to lie in one memory of the machine, and what the system says of where they lie.
class Placed {
  public:
    Placed(std::size_t bytes, int memory_os_index, bool bind) : bytes_(bytes), memory_(bytes, Pages::huge) {
        if (bind) bind_pages(memory_.data(), bytes, memory_os_index);
    }
    template <class T>
    [[nodiscard]] std::span<T> as() const {
        return {static_cast<T*>(memory_.data()), bytes_ / sizeof(T)};
    }
    /// Share of some hundred pages, spread over all, that lie in that memory.
    [[nodiscard]] double share_in(int memory_os_index) const {
        constexpr std::size_t kAsked = 256;
        std::vector<void*> pages;
        const std::size_t page = 4096, all = bytes_ / page, asked = std::min(all, kAsked);
        for (std::size_t i = 0; i < asked; ++i)
            pages.push_back(static_cast<std::byte*>(memory_.data()) + all * i / asked * page);
        const auto where = memories_of(pages);
        if (!where) return NAN;
        const auto right = std::count(where->begin(), where->end(), memory_os_index);
        return static_cast<double>(right) / static_cast<double>(asked);
    }

  private:
    std::size_t bytes_;
    Memory memory_;
};

struct Cell {
    double value = 0;
    bool right = false;  // the kernel did its work
    bool placed = true;  // the pages lie where they should, or nobody can tell
};

/// Load latency from one core into one memory, over a working set that outsizes the caches.
Cell latency_from(int pu, int memory, std::size_t bytes, bool verifiable, double seconds, Break fault) {
    Cell cell;
    const std::array pus = {pu};
    on_pus(pus, [&](int) {
        const Placed placed(bytes, memory, verifiable);
        const auto span = placed.as<std::byte>();
        const Order order(bytes / kLine, bytes);
        link_lines(span, kLine, order);
        if (fault == Break::perturb)
            std::swap(*reinterpret_cast<void**>(span.data()), *reinterpret_cast<void**>(span.data() + kLine));
        cell.right = visits_every_line_once(span, kLine, order);
        cell.placed = !verifiable || placed.share_in(memory) == 1.0;
        const std::byte* const base = span.data();
        const void* at = base + order(0) * kLine;
        std::size_t walked = 0;
        double best = std::numeric_limits<double>::infinity();
        constexpr std::size_t kWindows = 5;
        const auto steps = static_cast<std::size_t>(seconds / kWindows / 100e-9);
        for (std::size_t window = 0; window < kWindows; ++window) {
            const double start = now();
            if (fault != Break::skip) at = chase(at, steps);
            best = std::min(best, (now() - start) / static_cast<double>(steps));
            walked += steps;
            cell.right = cell.right && at == base + order(walked % order.size()) * kLine;
        }
        cell.value = best * 1e9;
    });
    return cell;
}

/// Triad of all cores of a domain on arrays in one memory, counted as STREAM does, with the stores that win.
Cell triad_from(const std::vector<int>& pus, int memory, std::size_t array_bytes, bool verifiable, int trials,
                Break fault) {
    Cell cell;
    const std::size_t n = array_bytes / sizeof(double) / hpcc::kLineDoubles * hpcc::kLineDoubles;
    const Placed placed(3 * n * sizeof(double), memory, verifiable);
    const auto all = placed.as<double>();
    double *a = all.data(), *b = a + n, *c = b + n;
    SpinBarrier together(static_cast<int>(pus.size()));
    double best = std::numeric_limits<double>::infinity();
    const std::size_t lines = n / hpcc::kLineDoubles;
    on_pus(pus, [&](int member) {
        const auto i = static_cast<std::size_t>(member), parts = pus.size();
        const std::size_t first = lines * i / parts * hpcc::kLineDoubles;
        const std::size_t count = lines * (i + 1) / parts * hpcc::kLineDoubles - first;
        std::fill_n(a + first, count, 0.0);
        std::fill_n(b + first, count, 1.0);
        std::fill_n(c + first, count, 2.0);
        for (int trial = 0; trial < trials; ++trial) {
            const auto stores = trial % 2 == 0 || !hpcc::has_streaming_stores() ? hpcc::Stores::cached
                                                                                : hpcc::Stores::streaming;
            together.wait();
            const double start = now();
            if (fault != Break::skip) hpcc::triad(a + first, b + first, c + first, kQ, count, stores);
            together.wait();
            if (member == 0) best = std::min(best, now() - start);
        }
    });
    if (fault == Break::perturb) a[n / 2] += 1e-9;
    cell.right = std::all_of(a, a + n, [](double x) { return x == 1.0 + kQ * 2.0; });
    cell.placed = !verifiable || placed.share_in(memory) == 1.0;
    cell.value = 3.0 * sizeof(double) * static_cast<double>(n) / best * 1e-9;
    return cell;
}

struct Row {
    int domain;
    std::vector<int> pus;  // one a core
};

std::vector<Row> rows_of(const machine::Machine& machine) {
    const std::vector<int> pus = one_pu_a_core(machine, process_pus());
    std::vector<Row> rows;
    for (const machine::Domain& domain : machine.domains) {
        Row row{domain.index, {}};
        for (const int pu : pus)
            if (std::find(domain.pus.begin(), domain.pus.end(), pu) != domain.pus.end())
                row.pus.push_back(pu);
        if (!row.pus.empty()) rows.push_back(std::move(row));
    }
    return rows;
}

/// Latency against the firmware's distance, which it gives between memories: a row stands at the memory of
/// its domain.
std::optional<double> latency_a_distance(const machine::Machine& machine, const Matrix& latency) {
    if (!machine.distances) return std::nullopt;
    const auto number = [&](int index) { return machine.memories[static_cast<std::size_t>(index)].os_index; };
    const auto place = [&](int memory) -> std::optional<std::size_t> {
        const auto& known = machine.distances->memories;
        const auto at = std::find_if(known.begin(), known.end(), [&](int m) { return number(m) == memory; });
        if (at == known.end()) return std::nullopt;
        return static_cast<std::size_t>(at - known.begin());
    };
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < latency.rows.size(); ++i) {
        const auto& own = machine.domains[static_cast<std::size_t>(latency.rows[i])].memories;
        const auto from = own.empty() ? std::nullopt : place(number(own.front()));
        for (std::size_t j = 0; j < latency.columns.size(); ++j) {
            const auto to = place(latency.columns[j]);
            if (from && to && latency.values[i][j])
                points.emplace_back(machine.distances->matrix[*from][*to], *latency.values[i][j]);
        }
    }
    return slope(points);
}

void declare_domains(Options& options) {
    options
        .option("--array", "SIZE", "",
                "bytes of each array of the triad, and of the working set of the walk; without it four times "
                "the last-level cache")
        .example("strata bench domains --layout 1xN",
                 "N = all cores: the rows are the domains whose cores the process may use");
}

/// Those that this process may use.
std::vector<machine::Memory> allowed_memories(const machine::Machine& machine) {
    std::vector<machine::Memory> memories;
    for (const machine::Memory& memory : machine.memories) {
        const auto& allowed = machine.allowed.memories;
        if (allowed.empty() || std::find(allowed.begin(), allowed.end(), memory.os_index) != allowed.end())
            memories.push_back(memory);
    }
    return memories;
}

struct Range {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    void add(double value) { least = std::min(least, value), most = std::max(most, value); }
};

/// What was measured of all rows and memories.
struct Measured {
    Matrix latency, bandwidth;
    Range latencies{}, bandwidths{};
    std::size_t wrong = 0, misplaced = 0;
};

Measured measure(const std::vector<Row>& rows, const std::vector<machine::Memory>& memories,
                 std::size_t bytes, bool verifiable, bool quick, Break fault) {
    std::vector<int> row_names, column_names;
    for (const Row& row : rows) row_names.push_back(row.domain);
    for (const machine::Memory& memory : memories) column_names.push_back(memory.os_index);
    Measured all{{"latency", "ns", row_names, column_names, {}},
                 {"bandwidth", "GB/s", row_names, column_names, {}}};
    // Where pages cannot be placed only the diagonal of a machine with one memory means what it says.
    const bool known = verifiable || memories.size() == 1;
    Progress progress("domains", rows.size() * memories.size());
    for (const Row& row : rows) {
        auto& latencies = all.latency.values.emplace_back();
        auto& bandwidths = all.bandwidth.values.emplace_back();
        for (const machine::Memory& memory : memories) {
            const Cell walk =
                latency_from(row.pus.front(), memory.os_index, bytes, verifiable, quick ? 0.02 : 0.2, fault);
            const Cell triad = triad_from(row.pus, memory.os_index, bytes, verifiable, quick ? 6 : 20, fault);
            all.wrong += !walk.right + !triad.right;
            all.misplaced += !walk.placed + !triad.placed;
            latencies.push_back(known ? std::optional(walk.value) : std::nullopt);
            bandwidths.push_back(known ? std::optional(triad.value) : std::nullopt);
            all.latencies.add(walk.value), all.bandwidths.add(triad.value);
            progress.step();
        }
    }
    return all;
}

void add_figures(Result& result, const machine::Machine& machine, const Measured& all) {
    result.figures.push_back({"latency", all.latencies.least, "ns", false, {}, {}});
    result.figures.push_back({"bandwidth", all.bandwidths.most, "GB/s", true, {}, {}});
    if (all.latency.rows.size() * all.latency.columns.size() > 1) {
        result.figures.push_back({"latency, farthest", all.latencies.most, "ns", false, {}, {}});
        result.figures.push_back({"bandwidth, least", all.bandwidths.least, "GB/s", true, {}, {}});
    }
    if (const auto each = latency_a_distance(machine, all.latency)) {
        result.figures.push_back({"latency a hop", 10 * *each, "ns", false, {}, {}});
        result.notes.push_back(
            "latency a hop is the slope, by least squares, of latency against the firmware's distance, "
            "for each 10 of distance");
    }
}

Result run_domains(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("domains are measured by the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const bool quick = given.has("--quick");
    const machine::Machine machine = machine::read_machine({"system", false, true});
    const std::vector<Row> rows = rows_of(machine);
    const std::vector<machine::Memory> memories = allowed_memories(machine);
    if (rows.empty() || memories.empty())
        throw Error("no domain or no memory that this process may use", kFailure).remedy("strata machine");
    const machine::PagePlacement placement = machine::try_page_placement(memories.front().os_index);
    const bool verifiable = placement.mbind && placement.move_pages;

    std::size_t bytes = given.has("--array") ? given.size("--array") : 4 * last_level_cache();
    bytes = bytes / (2 << 20) * (2 << 20);
    if (bytes == 0) throw Error("the arrays are too small").at("--array").allowed("2 MiB or more");
    require_memory(3 * bytes, "the triad of a domain");

    Measured all = measure(rows, memories, bytes, verifiable, quick, fault);
    Result result;
    result.verification = {"cells with wrong results or with pages elsewhere than they were bound to",
                           static_cast<double>(all.wrong + all.misplaced), 0,
                           "Strata: docs/benchmarks.md, domains"};
    result.parameter("array", static_cast<std::int64_t>(bytes));
    result.parameter("placement", std::string(verifiable ? "verified" : "placement unverified"));
    if (!verifiable)
        result.notes.push_back(
            fmt::format("placement unverified: {}{}", placement.why,
                        memories.size() > 1 ? "; no matrix, as pages may lie anywhere" : ""));
    if (rows.size() < machine.domains.size())
        result.notes.push_back(fmt::format("{} of {} domains: the process may use cores of no more",
                                           rows.size(), machine.domains.size()));
    if (verifiable || memories.size() == 1) {
        add_figures(result, machine, all);
        result.matrices = {std::move(all.latency), std::move(all.bandwidth)};
    }
    return result;
}

}  // namespace

const Benchmark domains = {"domains", "latency and bandwidth of each domain's cores in each memory",
                           declare_domains, run_domains};

}  // namespace strata::bench::machine_measures
