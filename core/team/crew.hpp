// The threads of one member of a team. They stay for as long as the member does, each bound to a place of its
// own. As many are awake as the member has places at the moment. Any member may change any member's number:
// cores then go from process to process within microseconds.
//
//   strata::team::Crew& crew = team.crew();
//   crew.parallel_for(0, n, [&](std::size_t i) { a[i] = b[i] + s * c[i]; });
//   crew.move(0, 3, 2);                  // two cores of member 0's go to member 3
//   crew.parallel_region([&](int thread, int threads) { ... });
//
// A place goes from one member to another when the thread that is awake there has left: at once if it looks
// for work, at the end of its share if it works. The new member runs its regions with its other places until
// then; it never waits for a core. So no two threads are awake on one core, unless the layout puts several
// places on it.
//
// The counts in shared memory are those of NASA Ames' MLP ("any process may change the number of CPUs of any
// other"; Ciotti, Taft, Petersohn, Early Experiences with the 512 Processor Single System Image Origin2000).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "core/team/crew_table.hpp"
#include "core/team/waiting.hpp"

namespace strata::team {

// The division of a loop's iterations among threads.
/// In equal blocks: with as many threads, thread t always has the same iterations.
struct Static {};
/// Each free thread takes the next `chunk`.
struct Dynamic {
    std::int64_t chunk = 1;
};
/// Each free thread takes half of an equal share of the rest, at least `least`.
///   Example: 1000 iterations left, 4 threads: the next takes 125.
struct Guided {
    std::int64_t least = 1;
};

/// The function that a region calls in each thread.
using CrewTask = void (*)(void* held, int thread, int threads);
class CrewThreads;

/// One member's handle. The thread that makes it leads its regions: it is bound to the member's home and is
/// thread 0 of each region. Regions that another thread begins, or that begin within a region, have one
/// thread.
class Crew {
  public:
    /// `table`: a CrewTable in shared memory. `pus`: [place] -> the PUs to which a thread of that place is
    /// bound; empty: no binding. Throws Error.
    Crew(void* table, int member, std::vector<std::vector<int>> pus, const Patience& patience);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// The number of threads that each member is to have from its next region on.
    [[nodiscard]] std::vector<int> counts() const { return table_.counts(); }
    [[nodiscard]] int count() const { return table_.count(member_); }
    /// Gives member `member` n threads, on places without a member. Places that it has too many then have no
    /// member. Throws Error when there are not as many, or for n < 1; MemberLost.
    void set_count(int member, int n);
    /// The same for all members at once: places of members that have too many go to those that have too few.
    void set_counts(std::span<const int> counts);
    /// Moves n threads from member `from` to member `to`: the cores nearest to the home of `to`. Throws Error
    /// when `from` would keep none; MemberLost.
    void move(int from, int to, int n = 1);

    /// Calls body(thread, threads) once in each thread, and returns when all have ended. The first exception
    /// (by number of thread) is thrown again.
    template <class Body>
    void parallel_region(Body&& body) {
        using Held = std::remove_reference_t<Body>;
        run([](void* held, int thread, int threads) { (*static_cast<Held*>(held))(thread, threads); },
            const_cast<void*>(static_cast<const void*>(std::addressof(body))));
    }

    /// Calls body(i) for each i from begin to end - 1, or body(first, last) for blocks of them where it takes
    /// two numbers. After an exception no more chunks are begun.
    template <class Index, class Body, class Division = Static>
    void parallel_for(std::type_identity_t<Index> begin, Index end, Body&& body, Division division = {});

    /// Makes this member's threads for all places now. Without this, each is made when the member first has
    /// its place, which takes some ten microseconds more.
    void prepare();

    /// For programs whose member uses OpenMP: sets OpenMP's number of threads to this member's count, binds
    /// OpenMP's threads to the member's places, and keeps these until the next call or region of the crew. To
    /// be called between OpenMP's regions, by the thread that leads. Returns the number; 0 when the program
    /// has no OpenMP.
    int lend_to_openmp();

    /// The place of the calling thread within a region; -1 outside.
    [[nodiscard]] static int place();
    [[nodiscard]] int member() const { return member_; }
    [[nodiscard]] const CrewTable& table() const { return table_; }
    /// The PUs of each place; empty: no binding.
    [[nodiscard]] const std::vector<std::vector<int>>& pus() const { return pus_; }

  private:
    void run(CrewTask task, void* held);

    CrewTable table_;
    int member_;
    std::vector<std::vector<int>> pus_;
    Patience patience_;
    std::unique_ptr<CrewThreads> threads_;
};

namespace detail {

/// Iterations of a loop that are not yet taken, counted from 0.
class Chunks {
  public:
    Chunks(std::int64_t count, Dynamic division) : count_(count), least_(division.chunk), guided_(false) {}
    Chunks(std::int64_t count, Guided division) : count_(count), least_(division.least), guided_(true) {}

    /// Takes the next iterations for one of `threads` threads; false when none are left.
    bool take(int threads, std::int64_t& first, std::int64_t& last) {
        const std::int64_t least = least_ < 1 ? 1 : least_;
        first = next_.load(std::memory_order_relaxed);
        do {
            if (first >= count_) return false;
            const std::int64_t left = count_ - first, share = guided_ ? left / (2 * threads) : 0;
            const std::int64_t step = share > least ? share : least;
            last = step < left ? first + step : count_;
        } while (!next_.compare_exchange_weak(first, last, std::memory_order_relaxed));
        return true;
    }
    void stop() { next_.store(count_, std::memory_order_relaxed); }

  private:
    alignas(kApart) std::atomic<std::int64_t> next_{0};
    alignas(kApart) std::int64_t count_;
    std::int64_t least_;
    bool guided_;
};

}  // namespace detail

template <class Index, class Body, class Division>
void Crew::parallel_for(std::type_identity_t<Index> begin, Index end, Body&& body, Division division) {
    static_assert(std::is_integral_v<Index>);
    if (!(begin < end)) return;
    const auto count =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin));
    const auto block = [&](std::int64_t first, std::int64_t last) {
        const auto from = static_cast<Index>(begin + static_cast<Index>(first));
        const auto to = static_cast<Index>(begin + static_cast<Index>(last));
        if constexpr (std::is_invocable_v<Body&, Index, Index>)
            body(from, to);
        else
            for (Index i = from; i < to; ++i) body(i);
    };
    if constexpr (std::is_same_v<Division, Static>) {
        parallel_region([&](int thread, int threads) {
            const std::int64_t each = count / threads, over = count % threads;
            const std::int64_t first = each * thread + (thread < over ? thread : over);
            const std::int64_t last = first + each + (thread < over ? 1 : 0);
            if (first < last) block(first, last);
        });
    } else {
        detail::Chunks chunks(count, division);
        parallel_region([&](int, int threads) {
            std::int64_t first = 0, last = 0;
            try {
                while (chunks.take(threads, first, last)) block(first, last);
            } catch (...) {
                chunks.stop();
                throw;
            }
        });
    }
}

}  // namespace strata::team
