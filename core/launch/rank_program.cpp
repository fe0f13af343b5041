// strata-rank: what stands before the program in each rank of srun's where nothing is bound.
//
//     STRATA_RANK_PLAN=... strata-rank strata launch OPTIONS --as-rank PLACEMENT -- PROGRAM WORDS...
//
// It does what `strata launch --as-rank` does (which costs a millisecond where this costs a tenth), as far as
// no topology is needed for it. Wherever something is not as expected it becomes the command that its own
// words are, which does all of it, and has the words for what is wrong.
#include <sys/prctl.h>

#include <signal.h>
#include <initializer_list>

#include "core/launch/bare_system.hpp"
#include "core/launch/rank_plan.hpp"

namespace strata::launch {
namespace {

using namespace bare;

constexpr long kRegularCpus = 1 << 16;  // Linux has fewer on every architecture
constexpr size_t kMostText = 4096;

/// The value in an environment; null for none.
const char* value_in(char** environment, const char* name) {
    for (; *environment != nullptr; ++environment)
        if (const char* rest = after(*environment, name); rest != nullptr && *rest == '=') return rest + 1;
    return nullptr;
}

/// Whether two variables, up to "=", are one. `setting` may also end with its name.
bool same_name(const char* entry, const char* setting) {
    while (*entry == *setting && *entry != '=' && *entry != '\0') ++entry, ++setting;
    return *entry == '=' && (*setting == '=' || *setting == '\0');
}

/// The rank as Slurm counts it; -1 where it does not say so, or an MPI's launcher says something else.
int rank_by_slurm(char** environment) {
    for (const char* other : {"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "MPI_LOCALRANKID"})
        if (value_in(environment, other) != nullptr) return -1;
    const int rank = number(value_in(environment, "SLURM_PROCID"));
    for (const char* same : {"PMI_RANK", "PMIX_RANK"})
        if (const char* said = value_in(environment, same); said != nullptr && number(said) != rank)
            return -1;
    return number(value_in(environment, "SLURM_STEP_ID")) < 0 ? -1 : rank;
}

/// The PUs that a process may use as a list ("0-3,8"); whether they could be had.
bool write_cpus_of(long pid, Text& text) {
    static unsigned char mask[kRegularCpus / 8];
    const long bytes = call(__NR_sched_getaffinity, pid, sizeof mask, address(mask));
    if (bytes <= 0) return false;
    const auto has = [&](unsigned cpu) { return (mask[cpu / 8] >> (cpu % 8) & 1) != 0; };
    const unsigned count = 8 * static_cast<unsigned>(bytes);
    const char* separator = "";
    for (unsigned first = 0; first < count; ++first) {
        if (!has(first)) continue;
        unsigned last = first;
        while (last + 1 < count && has(last + 1)) ++last;
        text.add(separator).add(first);
        if (last > first) text.add("-").add(last);
        separator = ",";
        first = last;
    }
    return text.whole();
}

/// The settings of a plan, cut into texts in its place; their number.
int settings_of(char* plan, char** settings) {
    int found = 0;
    for (char* at = plan; *at != '\0';) {
        settings[found++] = at;
        while (*at != '\0' && *at != '\n') ++at;
        if (*at == '\n') *at++ = '\0';
    }
    return found;
}

/// Becomes the program as find_command() finds it (program.cpp). Returns where that fails.
void become_program(char** words, char** environment) {
    const char* name = words[0];
    const auto has_slash = [&] {
        for (const char* at = name; *at != '\0'; ++at)
            if (*at == '/') return true;
        return false;
    };
    if (*name == '\0') return;
    if (has_slash()) {
        become(name, words, environment);
        return;
    }
    constexpr long kNotAllowed = -13;  // EACCES: of a folder
    const char* folder = value_in(environment, "PATH");
    while (folder != nullptr) {
        size_t n = 0;
        while (folder[n] != '\0' && folder[n] != ':') ++n;
        char buffer[kMostText];
        Text path(buffer, sizeof buffer);
        path.add(n == 0 ? "." : folder, n == 0 ? 1 : n).add("/").add(name);
        constexpr long kHere = -100, kMayRun = 1;  // AT_FDCWD, X_OK
        if (!path.whole()) return;
        if (call(__NR_faccessat, kHere, address(buffer), kMayRun) == 0 &&
            become(buffer, words, environment) != kNotAllowed)
            return;
        folder = folder[n] == ':' ? folder + n + 1 : nullptr;
    }
}

/// Starts the program as rank of the plan. Returns where that cannot be done here, with nothing changed that
/// the full launcher would mind.
void start(char** words, char** environment) {
    const char* plan = value_in(environment, kRankPlan);
    const int rank = rank_by_slurm(environment);
    while (*words != nullptr && !(words[0][0] == '-' && words[0][1] == '-' && words[0][2] == '\0')) ++words;
    if (plan == nullptr || rank < 0 || *words == nullptr || words[1] == nullptr) return;

    char own_rank[32], own_cpus[kMostText];
    Text rank_text(own_rank, sizeof own_rank), cpus_text(own_cpus, sizeof own_cpus);
    rank_text.add("STRATA_RANK=").add(static_cast<unsigned>(rank));
    cpus_text.add("STRATA_CPUS=");
    // As a rank that binds itself: the PUs of the daemon, not the part that Slurm has bound this process to.
    if (!write_cpus_of(call(__NR_getppid), cpus_text)) return;

    size_t variables = 0, lines = 0;
    while (environment[variables] != nullptr) ++variables;
    for (const char* at = plan; *at != '\0'; ++at) lines += *at == '\n' ? 1 : 0;
    char** settings = static_cast<char**>(__builtin_alloca((lines + 1) * sizeof(char*)));
    char** made = static_cast<char**>(__builtin_alloca((variables + lines + 4) * sizeof(char*)));
    char* copy = static_cast<char*>(__builtin_alloca(length(plan) + 1));
    memcpy(copy, plan, length(plan) + 1);
    const int count = settings_of(copy, settings);

    char** to = made;
    for (char** entry = environment; *entry != nullptr; ++entry) {
        bool replaced =
            same_name(*entry, kRankPlan) || same_name(*entry, own_rank) || same_name(*entry, own_cpus);
        for (int i = 0; i < count && !replaced; ++i)
            replaced = same_name(*entry, settings[i] + (*settings[i] == '-' ? 1 : 0));
        if (!replaced) *to++ = *entry;
    }
    for (int i = 0; i < count; ++i)
        if (*settings[i] != '-') *to++ = settings[i];
    *to++ = own_rank;
    *to++ = own_cpus;
    *to = nullptr;
    // It ends with its step's daemon.
    call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL);
    become_program(words + 1, made);
}

}  // namespace
}  // namespace strata::launch

extern "C" void begin(long* stack) {
    using namespace strata::launch;
    char** words = reinterpret_cast<char**>(stack + 1);
    char** environment = words + *stack + 1;
    if (*stack < 2) bare::leave(2);
    start(words + 1, environment);
    bare::become(words[1], words + 1, environment);
    constexpr char why[] = "strata: error: the launcher cannot be started on this node: ";
    constexpr int standard_error = 2, not_found = 127;
    bare::call(__NR_write, standard_error, bare::address(why), sizeof why - 1);
    bare::call(__NR_write, standard_error, bare::address(words[1]),
               static_cast<long>(bare::length(words[1])));
    bare::call(__NR_write, standard_error, bare::address("\n"), 1);
    bare::leave(not_found);
}
