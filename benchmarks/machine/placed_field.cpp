#include "benchmarks/machine/placed_field.hpp"

#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <exception>

#include "benchmarks/hpcc/stream_kernels.hpp"
#include "benchmarks/machine/placing.hpp"

namespace strata::bench::machine_measures {
namespace {

constexpr double kQ = 3.0, kB = 1.0, kC = 2.0;
constexpr std::size_t kMostAsked = std::size_t{1} << 18;  // pages; 1 GiB of small ones, 40 ms
constexpr double kEven = 0.01;  // pages dealt evenly may differ by this part: the kernel skips a full memory

}  // namespace

Domains::Domains(const machine::Machine& machine) {
    for (const machine::Domain& domain : machine.domains) {
        all_.push_back(domain.index);
        for (const int pu : domain.pus) of_pu_[pu] = domain.index;
    }
    for (const machine::Memory& memory : machine.memories) {
        of_memory_[memory.os_index] = memory.domain.value_or(-1);
        const auto& may = machine.allowed.memories;
        if (may.empty() || std::find(may.begin(), may.end(), memory.os_index) != may.end())
            allowed_.push_back(memory.os_index);
    }
}

int Domains::memory_of(int domain) const {
    for (const int memory : allowed_)
        if (of_memory(memory) == domain) return memory;
    return allowed_.front();
}

std::vector<int> Domains::dealt_over() const {
    std::vector<int> memories;
    for (const int domain : all_) memories.push_back(memory_of(domain));
    std::sort(memories.begin(), memories.end());
    memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
    return memories;
}

void Field::touch(int thread) const {
    const Block own = block(thread);
    for (std::size_t array = 0; array < Field::kArrays; ++array)
        std::fill_n(at(array, own.first), doubles(own.count), array == 0 ? 0.0 : array == 1 ? kB : kC);
}

void Field::sweep(int thread) const {
    const Block own = block(thread);
    hpcc::triad(at(0, own.first), at(1, own.first), at(2, own.first), kQ, doubles(own.count),
                hpcc::has_streaming_stores() ? hpcc::Stores::streaming : hpcc::Stores::cached);
}

std::size_t Field::wrong() const {
    const double* const a = at(0, 0);
    return static_cast<std::size_t>(
        std::count_if(a, a + doubles(pages_), [](double x) { return x != kB + kQ * kC; }));
}

void on_team(int threads, const std::function<void(int)>& work) {
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
    const auto guarded = [&](int thread) {
        try {
            work(thread);
        } catch (...) {
            failures[static_cast<std::size_t>(thread)] = std::current_exception();
        }
    };
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    guarded(omp_get_thread_num());
#else
    guarded(0);
#endif
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

void place(const Field& field, Mode mode, int threads, const Domains& domains, const std::vector<int>& cpus) {
    const std::vector<int> dealt = domains.dealt_over();
    const bool several = dealt.size() > 1;
    if (mode == Mode::interleave && several)
        interleave_pages(field.memory().data(), field.memory().bytes(), dealt);
    if (mode == Mode::bind && several)
        for (int thread = 0; thread < threads; ++thread) {
            const Field::Block own = field.block(thread);
            const int memory = domains.memory_of(domains.of_pu(cpus[static_cast<std::size_t>(thread)]));
            for (std::size_t array = 0; array < Field::kArrays; ++array)
                bind_pages(field.page(array, own.first), own.count * field.page_bytes(), memory);
        }
    if (mode == Mode::one) {
        for (int thread = 0; thread < threads; ++thread) field.touch(thread);
    } else {
        on_team(threads, [&](int thread) { field.touch(thread); });
    }
}

std::optional<Counted> count(const Field& field, int threads, const Domains& domains,
                             const std::vector<int>& cpus, const std::vector<int>& placed_from) {
    const std::size_t all = Field::kArrays * field.pages(), asked = std::min(all, kMostAsked);
    std::vector<void*> pages;
    std::vector<int> owner;
    std::vector<int> thread_of(field.pages());
    for (int thread = 0; thread < threads; ++thread) {
        const Field::Block own = field.block(thread);
        std::fill_n(thread_of.begin() + static_cast<std::ptrdiff_t>(own.first), own.count, thread);
    }
    for (std::size_t i = 0; i < asked; ++i) {
        const std::size_t page = all * i / asked;
        pages.push_back(field.page(page / field.pages(), page % field.pages()));
        owner.push_back(thread_of[page % field.pages()]);
    }
    const auto where = memories_of(pages);
    if (!where) return std::nullopt;
    Counted counted;
    counted.asked = asked;
    const auto& memories = domains.allowed_memories();
    counted.pages.assign(domains.all().size(), std::vector<double>(memories.size(), 0.0));
    for (std::size_t i = 0; i < asked; ++i) {
        const auto thread = static_cast<std::size_t>(owner[i]);
        const int memory = (*where)[i], domain = domains.of_pu(cpus[thread]);
        ++counted.by_memory[memory];
        counted.local += memory >= 0 && domains.of_memory(memory) == domain;
        counted.elsewhere += memory != domains.memory_of(domains.of_pu(placed_from[thread]));
        const auto row = std::find(domains.all().begin(), domains.all().end(), domain);
        const auto column = std::find(memories.begin(), memories.end(), memory);
        if (row != domains.all().end() && column != memories.end())
            ++counted.pages[static_cast<std::size_t>(row - domains.all().begin())]
                           [static_cast<std::size_t>(column - memories.begin())];
    }
    return counted;
}

double misplaced(Mode mode, const Counted& counted, const Domains& domains) {
    const std::vector<int> dealt = domains.dealt_over();
    if (dealt.size() < 2) return 0;
    if (mode == Mode::bind) return static_cast<double>(counted.elsewhere);
    if (mode != Mode::interleave) return 0;
    const double even = static_cast<double>(counted.asked) / static_cast<double>(dealt.size());
    double beyond = 0;
    for (const int memory : dealt) {
        const auto at = counted.by_memory.find(memory);
        const double here = at == counted.by_memory.end() ? 0.0 : static_cast<double>(at->second);
        beyond += std::max(0.0, std::abs(here - even) - std::max(1.0, kEven * even));
    }
    return std::ceil(beyond);
}

std::string cross_check(const Field& field, const Counted& counted) {
    const auto maps = bytes_by_numa_maps(field.memory().data(), field.memory().bytes());
    if (!maps) return "numa_maps is not offered";
    std::uint64_t sum = 0;
    for (const auto& [memory, bytes] : *maps) sum += bytes;
    double largest = 0;
    for (const auto& [memory, bytes] : *maps) {
        const auto at = counted.by_memory.find(memory);
        const double asked = at == counted.by_memory.end() ? 0.0 : static_cast<double>(at->second);
        largest = std::max(largest, std::abs(static_cast<double>(bytes) / static_cast<double>(sum) -
                                             asked / static_cast<double>(counted.asked)));
    }
    if (sum == 0) return "numa_maps does not show these pages";
    return largest < kEven ? "numa_maps agrees"
                           : fmt::format("numa_maps differs by up to {:.1f} % of the pages", 100 * largest);
}

}  // namespace strata::bench::machine_measures
