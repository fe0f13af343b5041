#include "core/run/profile/simulated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/base/error.hpp"

namespace strata::graph {

namespace detail {

/// Runs an operation of slot N. Its name is looked up in callgrind's output, so the linker is told to keep it
/// (core/run/CMakeLists.txt). The empty assembly keeps the functions different, so they are not merged, and
/// keeps the call a call: callgrind would not see a jump.
template <unsigned N>
[[gnu::noinline]] bool simulated_operation(bool (*part)(void*), void* held) {
    const bool done = part(held);
    asm volatile("" ::"i"(N) : "memory");
    return done;
}

[[gnu::noinline]] void simulated_batch(void (*work)(void*), void* held) {
    work(held);
    asm volatile("" ::: "memory");
}

}  // namespace detail

namespace {

constexpr std::size_t kSlots = 512;
/// The last slot runs empty operations, to measure the cost of the call itself.
constexpr std::size_t kEmpty = kSlots - 1;
constexpr int kRehearsals = 64;

using Through = bool (*)(bool (*)(void*), void*);
template <std::size_t... N>
constexpr std::array<Through, sizeof...(N)> all_of(std::index_sequence<N...> /*numbers*/) {
    return {detail::simulated_operation<static_cast<unsigned>(N)>...};
}
constexpr std::array<Through, kSlots> kThrough = all_of(std::make_index_sequence<kSlots>());

const char* name_of_event(const std::string& event) {
    constexpr std::pair<const char*, const char*> kNames[] = {
        {"Ir", "instructions"},      {"Dr", "data reads"},       {"Dw", "data writes"},
        {"I1mr", "I1 misses"},       {"D1mr", "D1 read misses"}, {"D1mw", "D1 write misses"},
        {"ILmr", "LL misses, code"}, {"DLmr", "LL read misses"}, {"DLmw", "LL write misses"}};
    for (const auto& [theirs, ours] : kNames)
        if (event == theirs) return ours;
    return event.c_str();
}

/// The output that callgrind has written so far.
std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 1 << 16> part{};
    for (off_t at = 0;;) {
        const ssize_t n = pread(descriptor, part.data(), part.size(), at);
        if (n < 0) throw system_error("callgrind's output cannot be read", errno);
        if (n == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(n));
        at += n;
    }
}

/// The slot of a function "bool strata::graph::detail::simulated_operation<7u>(...)", possibly mangled; none
/// for others.
std::optional<std::size_t> slot_of(const std::string& function) {
    const std::size_t at = function.find("simulated_operation");
    if (at == std::string::npos) return std::nullopt;
    const std::size_t digit = function.find_first_of("0123456789", at);
    if (digit == std::string::npos) return std::nullopt;
    return static_cast<std::size_t>(std::atol(function.c_str() + digit));
}

class Simulated final : public Counting {
  public:
    Simulated(int output, std::string note) : Counting(0), output_(output), note_(std::move(note)) {}

    void begin() override {
        CALLGRIND_START_INSTRUMENTATION;
        const volatile std::size_t empty =
            kEmpty;  // volatile: a call of a known function would be compiled to one of a nameless clone
        for (int i = 0; i < kRehearsals; ++i) kThrough[empty]([](void*) { return false; }, nullptr);
    }
    Counts end() override;
    void batch(int /*thread*/, void (*work)(void*), void* held) override {
        detail::simulated_batch(work, held);
    }
    bool around(std::uint32_t op, int thread, bool (*part)(void*), void* held) override {
        const std::uint32_t at = slot(op);
        const bool done = kThrough[at](part, held);
        if (done) count_call(tally(thread), op, at);
        return done;
    }

  private:
    void allow(std::size_t slots) override {
        if (slots > kEmpty)
            throw Error("the simulated mode cannot tell so many operations apart")
                .given(fmt::format("{} kinds and names", slots))
                .allowed(fmt::format("up to {}", kEmpty));
    }

    int output_;
    std::string note_;
};

Counts Simulated::end() {
    CALLGRIND_DUMP_STATS_AT("strata");
    CALLGRIND_STOP_INSTRUMENTATION;
    const CallgrindOutput output = read_callgrind(read_all(output_), "strata::graph::detail::simulated_");
    Counts counts;
    counts.mode = "simulated";
    counts.from = fmt::format("{} with caches {}{}", output.creator, fmt::join(output.caches, "; "),
                              note_.empty() ? "" : " (" + note_ + ")");
    for (const std::string& event : output.events) counts.events.emplace_back(name_of_event(event));
    counts.rows = rows();
    std::vector<double> empty(output.events.size());
    CallgrindOutput::Cost all{0, empty};
    bool any = false;
    std::vector<CallgrindOutput::Cost> costs(counts.rows.size(), {0, empty});
    for (const auto& [function, cost] : output.called) {
        const std::optional<std::size_t> slot = slot_of(function);
        if (!slot) {
            all = cost;
        } else if (*slot == kEmpty) {
            any = true;
            // Instructions, reads and writes are the same in each call. Misses occur in the first call only.
            for (std::size_t e = 0; e < 3 && e < empty.size(); ++e)
                empty[e] = cost.events[e] / static_cast<double>(cost.calls);
        } else if (*slot < costs.size()) {
            costs[*slot] = cost;
        }
    }
    if (!any)
        throw Error("callgrind does not know this program's functions", kFailure)
            .remedy("a program that is linked by strata_solver(), so that their names are kept");
    counts.runtime = all.events;
    for (std::size_t s = 0; s < counts.rows.size(); ++s) {
        counts.rows[s].events = costs[s].events;
        for (std::size_t e = 0; e < empty.size(); ++e) {
            const double own = empty[e] * static_cast<double>(costs[s].calls);
            counts.rows[s].events[e] -= own;
            counts.runtime[e] -= costs[s].events[e];
        }
    }
    std::erase_if(counts.rows, [](const Counts::Row& row) { return row.calls == 0; });
    return counts;
}

}  // namespace

bool is_simulated() { return RUNNING_ON_VALGRIND != 0; }

std::unique_ptr<Counting> make_simulated_counting() {
    const char* word = std::getenv(kSimulatedVariable);
    if (word == nullptr || !is_simulated())
        throw Error("this process does not run under callgrind", kFailure)
            .remedy("strata run CASE --counters simulated starts it so");
    char* note = nullptr;
    const auto output = static_cast<int>(std::strtol(word, &note, 10));
    return std::make_unique<Simulated>(output, *note == ' ' ? note + 1 : note);
}

}  // namespace strata::graph
