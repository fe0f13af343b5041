#include "core/launch/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/cpulist.hpp"
#include "core/launch/rank_plan.hpp"

namespace strata::launch {
namespace {

/// OpenMP 5.2, 21.1.6: a list of places, each in braces a list of processors or of "first:count" intervals.
std::string omp_place(const std::vector<int>& pus) {
    std::vector<std::string> parts;
    for (size_t i = 0, next = 0; i < pus.size(); i = next) {
        for (next = i + 1; next < pus.size() && pus[next] == pus[next - 1] + 1;) ++next;
        parts.push_back(next - i == 1 ? std::to_string(pus[i]) : fmt::format("{}:{}", pus[i], next - i));
    }
    return fmt::format("{{{}}}", fmt::join(parts, ","));
}

/// malloc then asks for huge pages where the system leaves that to programs (glibc 2.35, "Memory Allocation
/// Tunables"); what else was tuned stays.
std::string with_huge_pages() {
    const char* now = std::getenv("GLIBC_TUNABLES");
    const std::string asked = "glibc.malloc.hugetlb=1";
    return now == nullptr || *now == '\0' ? asked : std::string(now) + ":" + asked;
}

}  // namespace

std::string omp_places(const std::vector<std::vector<int>>& threads) {
    std::vector<std::string> places;
    for (const auto& thread : threads) places.push_back(omp_place(thread));
    return fmt::format("{}", fmt::join(places, ","));
}

std::vector<Setting> settings_for(const Placement& placement, int index, int rank, int size) {
    const Layout& layout = placement.layout;
    const std::string threads = std::to_string(layout.threads);
    std::vector<Setting> set;
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                             "NVPL_BLAS_NUM_THREADS", "ARMPL_NUM_THREADS", "NUMEXPR_NUM_THREADS"})
        set.push_back({name, threads});
    set.push_back({"OMP_DYNAMIC", "false"});
    // Each runtime's own variables go before OpenMP's, so what was exported for another run would win
    // silently.
    for (const char* name : {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET", "OMP_THREAD_LIMIT"})
        set.push_back({name, "", true});
    if (layout.bind != Bind::none) {
        set.push_back({"OMP_PLACES", omp_places(placement.threads.at(static_cast<size_t>(index)))});
        set.push_back({"OMP_PROC_BIND", "close"});
    } else {
        set.push_back({"OMP_PLACES", "", true});
        set.push_back({"OMP_PROC_BIND", "false"});
    }
    if (placement.memory_of(index).huge == Huge::on) set.push_back({"GLIBC_TUNABLES", with_huge_pages()});
    set.push_back({"STRATA_LAYOUT", to_text(layout)});
    set.push_back({"STRATA_STRIDE", std::to_string(layout.stride)});
    set.push_back({"STRATA_BIND", bind_text(layout)});
    set.push_back({"STRATA_RANK", std::to_string(rank)});
    set.push_back({"STRATA_SIZE", std::to_string(size)});
    set.push_back({"STRATA_CPUS", print_cpulist(placement.pus(index))});
    for (const char* name : {"STRATA_PLACEMENT", "STRATA_TEAM_PLACEMENT", "STRATA_LIFELINE_FD", kRankPlan})
        set.push_back({name, "", true});
    return set;
}

std::string rank_plan(const Placement& placement) {
    std::string plan;
    for (const Setting& setting : settings_for(placement, 0, 0, placement.layout.processes)) {
        if (setting.name == "STRATA_RANK" || setting.name == "STRATA_CPUS") continue;
        plan += setting.removed ? "-" + setting.name : setting.name + "=" + setting.value;
        plan += '\n';
    }
    return plan;
}

std::vector<Setting> settings_for_team(const Placement& placement) {
    std::vector<Setting> set = {{"STRATA_LAYOUT", to_text(placement.layout)},
                                {"STRATA_STRIDE", std::to_string(placement.layout.stride)},
                                {"STRATA_BIND", bind_text(placement.layout)},
                                {"STRATA_TEAM_PLACEMENT", encode(placement)}};
    for (const char* name :
         {"STRATA_RANK", "STRATA_SIZE", "STRATA_CPUS", "STRATA_PLACEMENT", "STRATA_LIFELINE_FD"})
        set.push_back({name, "", true});
    return set;
}

std::vector<std::string> apply_settings(const std::vector<Setting>& settings,
                                        std::vector<std::string> environment) {
    const auto named = [](const std::string& entry, const std::string& name) {
        return entry.size() > name.size() && entry[name.size()] == '=' &&
               entry.compare(0, name.size(), name) == 0;
    };
    for (const Setting& setting : settings) {
        std::erase_if(environment, [&](const std::string& entry) { return named(entry, setting.name); });
        if (!setting.removed) environment.push_back(setting.name + "=" + setting.value);
    }
    return environment;
}

std::vector<std::string> own_environment() {
    std::vector<std::string> all;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) all.emplace_back(*entry);
    return all;
}

}  // namespace strata::launch
