// Who computes a benchmark together. The same program text runs under three models:
//
//   openmp  one process, its threads by OpenMP
//   mpi     processes that exchange messages, each with threads by OpenMP
//   team    processes that share one arena, each with the threads of its crew (docs/team.md, docs/crews.md)
//
// Every process runs the whole program. What is divided by messages is divided over size() processes, each
// with blocks of its own; what lies in one memory is divided over its workers: threads, or the threads of all
// members of a team. So a team has size() 1 and as many workers as it has threads together.
//
// An array of a team is shared: between two calls of each() it is read and written inside each() and once()
// alone, since other members may be ahead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace strata::npb {

/// Where the part of `worker` begins, when `count` things are divided in blocks of equal length.
[[nodiscard]] constexpr std::int64_t share_begin(std::int64_t count, int worker, int workers) {
    return count / workers * worker + (worker < count % workers ? worker : count % workers);
}

/// The part of `worker`: [begin, end).
struct Share {
    std::int64_t begin, end;
    Share(std::int64_t count, int worker, int workers)
        : begin(share_begin(count, worker, workers)), end(share_begin(count, worker + 1, workers)) {}
};

/// One message out and one in, in bytes. The sender's i-th shift to a process goes with the receiver's i-th
/// from it.
struct Shift {
    int to = 0, from = 0;
    std::span<const std::byte> out;
    std::span<std::byte> in;
};

class Group {
  public:
    virtual ~Group() = default;

    [[nodiscard]] virtual const char* model() const = 0;
    /// As the layout says, PxT.
    [[nodiscard]] virtual int processes() const { return 1; }
    [[nodiscard]] virtual int threads() const = 0;
    /// This process's, of processes().
    [[nodiscard]] virtual int number() const { return rank(); }
    /// Whether this process prints.
    [[nodiscard]] bool first() const { return number() == 0; }
    /// What was linked, for the report: MPI's library, or nothing.
    [[nodiscard]] virtual std::string library() const { return {}; }
    /// How many processes of message passing share the memory of this machine.
    [[nodiscard]] virtual int ranks_here() const { return 1; }

    // Message passing.
    [[nodiscard]] virtual int rank() const { return 0; }
    [[nodiscard]] virtual int size() const { return 1; }
    /// All shifts at once; returns when all have come and gone. A process may send to itself.
    virtual void exchange(std::span<const Shift> shifts);
    /// The sums over all processes, element by element, in place.
    virtual void sum(std::span<double> values) { (void)values; }
    [[nodiscard]] virtual double max(double value) { return value; }
    /// Every process's `mine`, of one length, in the order of ranks.
    virtual void gather(std::span<const std::byte> mine, std::span<std::byte> all);
    /// Waits for all processes, of whatever kind.
    virtual void meet() {}
    /// Ends the others, who may wait for a process that has failed alone.
    virtual void abandon(int status) { (void)status; }

    // Shared memory.
    [[nodiscard]] virtual int workers() const = 0;
    /// Whether threads may go from one process to another: where all share one memory.
    [[nodiscard]] virtual bool moves_threads() const { return false; }
    /// Gives each process so many threads, all in all as many as there are; workers are numbered in the order
    /// of processes from then on. To be called by all, before any array is touched. Without effect where
    /// threads stay.
    virtual void set_counts(std::span<const int> counts) { (void)counts; }
    /// Calls body(worker, workers) for each worker, at once; all have ended when it returns, and what they
    /// wrote is seen by all.
    template <class Body>
    void each(Body&& body) {
        using Held = std::remove_reference_t<Body>;
        run([](void* held, int worker, int workers) { (*static_cast<Held*>(held))(worker, workers); },
            const_cast<void*>(static_cast<const void*>(std::addressof(body))));
    }
    /// body(begin, end) for the parts of `count` things.
    template <class Body>
    void each_part(std::int64_t count, Body&& body) {
        each([&](int worker, int workers) {
            const Share part(count, worker, workers);
            if (part.begin < part.end) body(part.begin, part.end);
        });
    }
    /// body(begin, end, worker), where a worker has memory of its own.
    template <class Body>
    void each_part_of(std::int64_t count, Body&& body) {
        each([&](int worker, int workers) {
            const Share part(count, worker, workers);
            if (part.begin < part.end) body(part.begin, part.end, worker);
        });
    }
    /// One worker alone calls body(), then all go on.
    template <class Body>
    void once(Body&& body) {
        each([&](int worker, int) {
            if (worker == 0) body();
        });
    }
    /// body(worker, workers) gives N values; their sums over all workers and processes, added in the order of
    /// workers.
    template <std::size_t N, class Body>
    [[nodiscard]] std::array<double, N> sum_each(Body&& body) {
        static_assert(N <= kSlot);
        double* slots = next_slots();
        each([&](int worker, int workers) {
            const std::array<double, N> part = body(worker, workers);
            for (std::size_t i = 0; i < N; ++i) slots[static_cast<std::size_t>(worker) * kSlot + i] = part[i];
        });
        std::array<double, N> total{};
        for (std::size_t w = 0; w < static_cast<std::size_t>(workers()); ++w)
            for (std::size_t i = 0; i < N; ++i) total[i] += slots[w * kSlot + i];
        sum(total);
        return total;
    }

    /// Memory of that name that all workers share, zeroed; no page of it exists until a worker touches it.
    /// Stays until the group ends. Throws Error.
    template <class T>
    [[nodiscard]] std::span<T> array(const std::string& name, std::size_t count) {
        static_assert(std::is_trivially_copyable_v<T>);
        return {static_cast<T*>(allocate(name, count * sizeof(T))), count};
    }

  protected:
    using Task = void (*)(void* held, int worker, int workers);
    virtual void run(Task task, void* held) = 0;
    [[nodiscard]] virtual void* allocate(const std::string& name, std::size_t bytes) = 0;

  private:
    static constexpr std::size_t kSlot = 32;  // values of one worker, on cache lines of their own
    double* next_slots();

    // Two sets in turn: a member that is ahead writes the next sum while another one still reads this.
    std::array<double*, 2> slots_{};
    bool second_ = false;
};

}  // namespace strata::npb
