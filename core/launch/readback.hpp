// What the running program really does, read from outside: where its threads may run and last ran, in which
// memory its pages lie, which libraries it has mapped; and whether that is what the layout promised.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/launch/layout.hpp"
#include "core/launch/page_readback.hpp"

namespace strata::launch {

struct ThreadReading {
    int pid = 0, tid = 0;
    std::optional<int> rank;
    std::string name;
    std::vector<int> allowed;
    int last_cpu = -1;
    double cpu_s = 0;
    std::optional<long> migrations;
    int index = -1;  // of its process in the placement of this node, where that is not the rank
};

/// Whether a set of threads, all alive at once, is where it was promised to be; the reason when it is not.
/// `promised` holds, by rank, each thread's PUs. Threads with little CPU time (helpers of MPI, of the
/// runtime) are not judged.
std::optional<std::string> find_disagreement(const std::vector<ThreadReading>& threads,
                                             const Placement& promised);

/// The most threads that computed between the same two readings, and again between the next two: one that
/// takes over where another ends computes beside it in one interval at most.
class ConcurrentThreads {
  public:
    /// To be called with each reading of all threads.
    void read(const std::vector<ThreadReading>& now);
    [[nodiscard]] int most() const { return most_; }

  private:
    using Id = std::pair<int, int>;  // pid and tid
    std::map<Id, double> cpu_s_;     // at the last reading
    std::set<Id> computed_;          // between the last two
    int most_ = 0;
};

/// Whether a mapped file is a BLAS, MPI, OpenMP or FFT library.
bool is_worth_naming(const std::string& path);

/// Readings of one run, taken now and then while it runs.
class Readback {
  public:
    /// Processes count as the program when their environment carries STRATA_RANK and they are not `launcher`
    /// itself. They are this process' descendants; with a mark, those of this node whose STRATA_RUN it is.
    Readback(Placement promised, std::string launcher, std::string mark = "");

    /// Reads everything once. Costs some 30 us a thread; of pages, what PageReadback allows.
    void read(double elapsed_s);

    /// Threads seen, at most `kMostThreads`: those of the last reading, and those that had ended by then,
    /// with what was last read of them.
    [[nodiscard]] std::vector<ThreadReading> threads() const;
    [[nodiscard]] PageReading pages() const { return pages_.reading(saw_anything()); }
    [[nodiscard]] const std::set<std::string>& libraries() const { return libraries_; }
    [[nodiscard]] const std::optional<std::string>& disagreement() const {
        return !disagreement_ && doubt_lasted_ >= kLastsAtEnd ? doubt_ : disagreement_;
    }
    /// Something disagreed in the last look and has not been confirmed yet: look again soon (confirm_after()
    /// seconds).
    [[nodiscard]] bool in_doubt() const { return doubt_looks_ > 0 && !disagreement_; }
    [[nodiscard]] bool saw_anything() const { return !seen_.empty(); }
    [[nodiscard]] std::optional<long> migrations() const;
    [[nodiscard]] int readings() const { return readings_; }
    [[nodiscard]] int computing_at_once() const { return at_once_.most(); }

    static constexpr size_t kMostThreads = 1024;
    /// hwloc, inside MPI_Init and OpenMP runtimes, visits every PU to ask the processor about itself, and
    /// stays as long as a spinning neighbour there lets it wait (0.1 s was seen): a thread is then where
    /// nobody wants it. So a disagreement counts when it lasts this long, or when the run ends with one that
    /// was looked at for longer than such a visit. What is neither is left undecided.
    static constexpr double kConfirmed = 0.4, kLastsAtEnd = 0.15;
    /// Seconds to the next look while in doubt: first soon, since most doubts end by themselves.
    static constexpr double kConfirmAfter = 0.02, kConfirmLater = 0.06;
    [[nodiscard]] double confirm_after() const { return doubt_looks_ < 3 ? kConfirmAfter : kConfirmLater; }

  private:
    std::vector<RankedProcess> program_processes();
    void judge(const std::vector<ThreadReading>& now, double elapsed_s);
    void read_threads(const RankedProcess& process, std::vector<ThreadReading>& now);
    void read_libraries(const std::vector<RankedProcess>& processes);

    Placement promised_;
    std::string launcher_, mark_;
    std::map<std::pair<int, int>, ThreadReading> seen_;
    std::map<std::pair<int, std::uint64_t>, RankedProcess> known_;  // by pid and start
    PageReadback pages_;
    std::set<std::string> libraries_;
    std::optional<std::string> disagreement_, doubt_;
    int doubt_looks_ = 0;
    double doubted_since_ = 0, doubt_lasted_ = 0;
    ConcurrentThreads at_once_;
    int readings_ = 0;
};

}  // namespace strata::launch
