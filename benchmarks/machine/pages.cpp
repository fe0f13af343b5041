// The same sweep over memory with its pages placed in four ways: by one thread, by the threads that use them,
// dealt over all memories, and bound to each thread's domain. "Sub optimal thread and memory placement" gave
// the Origin2000 its "significant run-time variations" (Ciotti, Taft and Petersohn, Early Experiences with
// The 512 Processor Single System Image Origin2000, sections 3.2.3 to 3.2.5: first touch, round robin, and
// pages and threads held in place).
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/machine/placed_field.hpp"
#include "benchmarks/machine/placing.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::bench::machine_measures {
namespace {

constexpr std::size_t kLeastSweeps = 10, kMostSweeps = 20000;

/// All threads of a team wait here for each other.
void meet(){
#ifdef _OPENMP
#pragma omp barrier
#endif
}

/// Migrations of all threads of this process since they began, as the scheduler counts them; none where it
/// does not say.
std::optional<long> scheduler_migrations() {
    long sum = 0;
    std::error_code failed;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", failed)) {
        const auto text = machine::read_file(task.path().string() + "/sched");
        const std::size_t at = text ? text->find("se.nr_migrations") : std::string::npos;
        if (at == std::string::npos) return std::nullopt;
        sum += std::strtol(text->c_str() + text->find(':', at) + 1, nullptr, 10);
    }
    return failed ? std::nullopt : std::optional(sum);
}

struct Timing {
    std::vector<double> seconds;  // of each sweep, the slowest thread's
    std::vector<int> cpus;        // of each thread at the end
    long moves = 0;               // sweeps that a thread ended on another CPU than the one before
};

Timing sweep(const Field& field, int threads, std::size_t sweeps, Break fault) {
    Timing timing;
    timing.seconds.assign(sweeps, 0.0);
    timing.cpus.assign(static_cast<std::size_t>(threads), -1);
    std::vector<long> moves(timing.cpus.size(), 0);
    on_team(threads, [&](int thread) {
        const auto own = static_cast<std::size_t>(thread);
        int cpu = sched_getcpu();
        long moved = 0;
        for (double& seconds : timing.seconds) {
            meet();
            const double start = now();
            if (fault != Break::skip) field.sweep(thread);
            meet();
            if (thread == 0) seconds = now() - start;
            const int here = sched_getcpu();
            moved += here != cpu;
            cpu = here;
        }
        timing.cpus[own] = cpu;
        moves[own] = moved;
    });
    for (const long moved : moves) timing.moves += moved;
    return timing;
}

void declare_pages(Options& options) {
    options
        .option("--mode", "MODE", "threads",
                "one (the first thread touches all), threads (each its own), interleave (dealt over all "
                "memories) or bind (each block to its thread's domain)")
        .option("--array", "SIZE", "",
                "each of three arrays; without it four times the last-level cache for each domain")
        .option("--pages", "KIND", "small", "small or huge")
        .option("--duration", "SECONDS", "", "how long to sweep; without it 2s, or 0.5s with --quick")
        .example("strata bench pages --layout 1x8 --mode one",
                 "all pages where the first thread sits, eight bound threads sweep over them")
        .example("strata bench pages --layout 1x8 --mode threads", "each thread's pages in its own domain")
        .example("strata bench pages --layout 1x8 --bind none --mode bind",
                 "pages bound, threads free to wander away from them");
}

void add_times(Result& result, std::vector<double> seconds, std::size_t bytes) {
    const double middle = median(seconds);
    const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    const auto b = static_cast<double>(bytes);
    result.figures.push_back({"sweep", 1e3 * middle, "ms", false, b, {}});
    result.figures.push_back({"fastest sweep", 1e3 * *least, "ms", false, b, {}});
    result.figures.push_back({"slowest sweep", 1e3 * *most, "ms", false, b, {}});
    result.figures.push_back({"spread of sweeps", 100 * (*most - *least) / middle, "%", false, {}, {}});
    result.figures.push_back({"bandwidth", b / middle * 1e-9, "GB/s", true, b, {}});
}

/// What was asked for.
struct Wish {
    std::string word;
    Mode mode;
    Pages pages;
    double duration;
};

Wish wish_from(const Parsed& given) {
    Wish wish;
    wish.word = given.choice("--mode", {"one", "threads", "interleave", "bind"});
    wish.mode = wish.word == "one"          ? Mode::one
                : wish.word == "interleave" ? Mode::interleave
                : wish.word == "bind"       ? Mode::bind
                                            : Mode::threads;
    wish.pages = given.choice("--pages", {"small", "huge"}) == "huge" ? Pages::huge : Pages::small;
    wish.duration = given.has("--duration") ? given.seconds("--duration") : given.has("--quick") ? 0.5 : 2.0;
    if (!(wish.duration > 0 && wish.duration <= 3600))
        throw Error("the duration is out of range").at("--duration").allowed("up to 1h");
    return wish;
}

/// Bytes of each array: as given, else so many that no domain keeps its part in its caches.
std::uint64_t array_bytes(const Parsed& given, const Domains& domains) {
    const std::uint64_t array =
        given.has("--array") ? given.size("--array") : 4 * last_level_cache() * domains.all().size();
    if (array < 1 << 16)
        throw Error("the arrays are too small")
            .at("--array")
            .given(print_size(array))
            .allowed("64 KiB or more");
    return array;
}

/// As many sweeps as take so long, by three that warm up.
std::size_t sweeps_in(double duration, const Field& field, int threads, Break fault) {
    const Timing warm = sweep(field, threads, 3, fault);
    const double one = std::max(1e-6, *std::min_element(warm.seconds.begin(), warm.seconds.end()));
    return std::clamp(static_cast<std::size_t>(duration / one), kLeastSweeps, kMostSweeps);
}

/// How often threads moved: `before` and `after` as the scheduler counts, else as was seen after each sweep.
void add_migrations(Result& result, std::optional<long> before, std::optional<long> after, long seen) {
    const bool by_scheduler = before && after;
    result.parameter("migrations_from", std::string(by_scheduler ? "/proc/self/task/*/sched"
                                                                 : "CPU of each thread after a sweep"));
    result.figures.push_back(
        {"migrations", static_cast<double>(by_scheduler ? *after - *before : seen), "", false, {}, {}});
}

/// Where the pages lie, if the kernel tells.
void add_placement(Result& result, const Field& field, const std::optional<Counted>& counted,
                   const Domains& domains) {
    if (counted) {
        result.parameter("placement", std::string("verified"));
        result.parameter("pages_asked", static_cast<std::int64_t>(counted->asked));
        result.parameter("cross_check", cross_check(field, *counted));
        const double local = 100 * static_cast<double>(counted->local) / static_cast<double>(counted->asked);
        result.figures.push_back({"local pages", local, "%", true, {}, {}});
        Matrix matrix{
            "pages by domain of their thread and memory", "", domains.all(), domains.allowed_memories(), {}};
        for (const auto& row : counted->pages) matrix.values.emplace_back(row.begin(), row.end());
        result.matrices.push_back(std::move(matrix));
    } else {
        result.parameter("placement", std::string("placement unverified"));
        result.notes.push_back("placement unverified: move_pages does not tell here where pages lie");
    }
}

void add_notes(Result& result, const Domains& domains, Mode mode) {
    if (domains.allowed_memories().size() == 1)
        result.notes.push_back(
            "one memory: every page is where every other is, so only pinning can make a difference here");
    if (const auto policy = inherited_policy(); policy && (mode == Mode::one || mode == Mode::threads))
        result.notes.push_back(fmt::format(
            "the process was given the memory policy \"{}\", so first touch did not decide", *policy));
}

Result run_pages(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("pages are placed by the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const Wish wish = wish_from(given);
    const Domains domains(machine::read_machine({"system", false, false}));
    if (domains.allowed_memories().empty())
        throw Error("no memory that this process may use", kFailure).remedy("strata machine");
    const std::uint64_t array = array_bytes(given, domains);
    require_memory(Field::kArrays * array, "the sweep");
    const int threads = thread_count();
    const Field field(array, wish.pages, threads);
    std::vector<int> placed_from(static_cast<std::size_t>(threads), -1);
    on_team(threads, [&](int thread) { placed_from[static_cast<std::size_t>(thread)] = sched_getcpu(); });
    const auto migrations = scheduler_migrations();
    place(field, wish.mode, threads, domains, placed_from);

    const std::size_t sweeps = sweeps_in(wish.duration, field, threads, fault);
    Timing timing = sweep(field, threads, sweeps, fault);
    const auto migrations_after = scheduler_migrations();
    if (fault == Break::perturb) field.at(0, field.pages() / 2)[0] += 1e-9;

    const auto counted = count(field, threads, domains, timing.cpus, placed_from);
    Result result;
    result.verification = {
        "wrong elements, and pages elsewhere than they were bound or dealt to",
        static_cast<double>(field.wrong()) + (counted ? misplaced(wish.mode, *counted, domains) : 0.0), 0,
        "Strata: docs/benchmarks.md, pages"};
    result.parameter("mode", wish.word);
    result.parameter("array", static_cast<std::int64_t>(field.pages() * field.page_bytes()));
    result.parameter("page", static_cast<std::int64_t>(field.page_bytes()));
    result.parameter("sweeps", static_cast<std::int64_t>(sweeps));
    result.parameter("memories", static_cast<std::int64_t>(domains.allowed_memories().size()));
    add_times(result, timing.seconds, Field::kArrays * field.pages() * field.page_bytes());
    add_migrations(result, migrations, migrations_after, timing.moves);
    add_placement(result, field, counted, domains);
    add_notes(result, domains, wish.mode);
    return result;
}

}  // namespace

const Benchmark pages = {"pages", "a sweep over memory whose pages were placed in one of four ways",
                         declare_pages, run_pages};

}  // namespace strata::bench::machine_measures
