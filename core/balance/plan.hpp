// A plan: the process of each patch, the number of threads of each process, and the predicted time.
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

/// The patches to be assigned. Costs are times of one step on one thread, in any unit (seconds, or points
/// when all points cost the same). All times of a plan are in that unit.
struct Problem {
    std::vector<double> costs;
    std::vector<Point> centres;        ///< empty, or one for each patch; Method::curve needs them
    std::vector<Exchanged> exchanged;  ///< pairs of patches; Method::connected and ::bytes use them
};

enum class Method {
    largest_first,  ///< Graham's rule alone
    packing,        ///< the best packing found
    connected,      ///< OVERFLOW-D's grouping
    bytes,          ///< the same, by the amounts of exchanged data
    curve,          ///< chunks of Hilbert's curve
};
/// "largest-first", "packing", "connected", "bytes" and "curve". Throws Error on another name.
[[nodiscard]] Method parse_method(std::string_view name);
[[nodiscard]] const char* method_name(Method method);
[[nodiscard]] const std::vector<std::string>& method_names();

struct Request {
    int cpus = 1;
    int processes = 0;    ///< 0: searched for
    int max_threads = 0;  ///< of one process; 0: the curve's limit
    Method method = Method::packing;
    ThreadCurve curve = ThreadCurve::ideal();
    /// The methods connected and bytes may fill a process up to (1 + slack) of the time that packing reached
    /// (0.02: 2 % more).
    double slack = 0.02;
};

/// The reason why a plan cannot be faster.
struct Limit {
    int patch = -1;       ///< the largest patch, if it alone limits the time; -1: it does not
    int threads = 0;      ///< the threads with which it is fastest
    double time = 0;      ///< its time on these
    double without = 0;   ///< the time with patches that can be divided freely: all costs / CPUs
    double largest = 0;   ///< a patch above this cost alone keeps the time above `without`
    int too_large = 0;    ///< the number of such patches
    int cpus_enough = 0;  ///< this many CPUs would give the same time with this plan's owners
};

struct Plan {
    Owners owners;                     ///< [patch] -> process
    std::vector<int> threads;          ///< [process]
    std::vector<double> loads, times;  ///< [process]: sum of costs, and that over the speed-up of its threads
    double longest = 0;                ///< the predicted time of a step
    double bound = 0;                  ///< lower bound of the time for this request
    double efficiency = 1;             ///< all costs / (CPUs x longest); 1 is perfect; includes thread losses
    double efficiency_ideal = 1;       ///< the same with t threads t times as fast
    double balance = 1;                ///< CPU-weighted mean of times / longest: load balance alone
    double bytes_between = 0;          ///< exchanged between processes in each step
    int cpus = 0, cpus_used = 0;
    Limit limit;

    [[nodiscard]] int processes() const { return static_cast<int>(threads.size()); }
};

/// Makes the plan. Without a number of processes, several are tried. The largest number is taken that comes
/// within 0.5 % of the bound, or else of the shortest time found: with fewer threads each, the prediction
/// relies less on the thread curve. The same problem and request give the same plan. Throws Error where the
/// request cannot be met (more processes than CPUs, a cost that is negative or not finite).
[[nodiscard]] Plan make_plan(const Problem& problem, const Request& request);

/// The numbers of threads with the shortest longest time for given loads: sum <= cpus, each >= 1. First each
/// process gets the fewest threads for that time. The rest goes, one by one, to the process with the longest
/// time, as long as that helps. O(m log m log(1/eps)).
[[nodiscard]] std::vector<int> match_threads(const std::vector<double>& loads, int cpus,
                                             const ThreadCurve& curve);

/// A lower bound of the time of all assignments of patches and threads, from two limits. The largest patch
/// takes at least its time on its best number of threads. And each patch needs a part of the CPUs: a patch
/// too large for t threads is in a process with more than t, where each CPU does less work. `processes` 0:
/// any number.
[[nodiscard]] double lower_bound_time(const std::vector<double>& costs, int cpus, int processes,
                                      const ThreadCurve& curve);

/// Fills in all members of a plan that follow from owners and threads. Throws Error where these do not fit
/// the request.
void predict(Plan& plan, const Problem& problem, const Request& request);

}  // namespace strata::balance
