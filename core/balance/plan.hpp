// A plan: which process has each patch, how many threads each process has, and how well that can be expected
// to work.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/balance/grouping.hpp"
#include "core/balance/packing.hpp"
#include "core/balance/space_curve.hpp"
#include "core/balance/thread_curve.hpp"

namespace strata::balance {

/// The patches to be shared out. Costs are times of one step on one thread, in any one unit (seconds, or
/// points when all points cost the same); all times of a plan are in that unit.
struct Problem {
    std::vector<double> costs;
    std::vector<Point> centres;        ///< empty, or one for each patch; Method::curve needs them
    std::vector<Exchanged> exchanged;  ///< who exchanges data with whom; Method::connected and ::bytes use it
};

enum class Method {
    largest_first,  ///< Graham's rule alone
    packing,        ///< the best packing that is found
    connected,      ///< OVERFLOW-D's grouping
    bytes,          ///< the same by amounts exchanged
    curve,          ///< chunks of Hilbert's curve
};
/// "largest-first", "packing", "connected", "bytes" and "curve". Throws Error on another name.
[[nodiscard]] Method parse_method(std::string_view name);
[[nodiscard]] const char* method_name(Method method);
[[nodiscard]] const std::vector<std::string>& method_names();

struct Request {
    int cpus = 1;
    int processes = 0;    ///< 0: searched for
    int max_threads = 0;  ///< of one process; 0: as many as the curve knows
    Method method = Method::packing;
    ThreadCurve curve = ThreadCurve::ideal();
    /// Methods connected and bytes may fill a process up to (1 + slack) of the time that packing reached.
    double slack = 0.02;
};

/// The limit that keeps a plan from being faster.
struct Limit {
    int patch = -1;       ///< the largest patch, when no plan can be faster than it alone; -1: none does
    int threads = 0;      ///< the threads with which it is fastest
    double time = 0;      ///< its time on these
    double without = 0;   ///< the time if patches could be divided at will: all costs / CPUs
    double largest = 0;   ///< patches above this cost keep the time above `without`, whatever the others do
    int too_large = 0;    ///< how many are above
    int cpus_enough = 0;  ///< this many CPUs would give the same time (with this plan's way of sharing out)
};

struct Plan {
    Owners owners;                     ///< [patch] -> process
    std::vector<int> threads;          ///< [process]
    std::vector<double> loads, times;  ///< [process]: sum of costs, and that over the speed-up of its threads
    double longest = 0;                ///< the predicted time of a step
    double bound = 0;                  ///< no plan for this request can be faster
    double efficiency = 1;             ///< all costs / (CPUs x longest): 1 is perfect, thread losses count
    double efficiency_ideal = 1;       ///< the same plan, were t threads t times as fast
    double balance = 1;                ///< CPU-weighted mean of times / longest: load balance alone
    double bytes_between = 0;          ///< exchanged between processes, each step
    int cpus = 0, cpus_used = 0;
    Limit limit;

    [[nodiscard]] int processes() const { return static_cast<int>(threads.size()); }
};

/// Makes the plan. Without a number of processes, several are tried, and the largest is taken that comes
/// within 0.5 % of the bound, or else of the shortest time found: fewer threads each rely less on the thread
/// curve. The same problem and request give the same plan. Throws Error where the request cannot be met (more
/// processes than CPUs, a cost that is negative or not finite).
[[nodiscard]] Plan make_plan(const Problem& problem, const Request& request);

/// The threads that make the longest time shortest for given loads: sum <= cpus, each >= 1. First the fewest
/// that reach that time, then what is left to whoever is longest, as long as it gains. O(m log m log(1/eps)).
[[nodiscard]] std::vector<int> match_threads(const std::vector<double>& loads, int cpus,
                                             const ThreadCurve& curve);

/// A time below which no assignment of patches and threads can come: the largest patch alone on its best
/// number of threads, and the CPUs that each patch needs at least, given that a patch which is too large for
/// t threads is in a process of more than t, where a CPU does less. `processes` 0: any number.
[[nodiscard]] double lower_bound_time(const std::vector<double>& costs, int cpus, int processes,
                                      const ThreadCurve& curve);

/// Fills in everything of a plan that follows from owners and threads. Throws Error where these do not fit
/// the request.
void predict(Plan& plan, const Problem& problem, const Request& request);

}  // namespace strata::balance
