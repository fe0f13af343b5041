#include "benchmarks/npb/is/is.hpp"

#include <fmt/format.h>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/npb/is/sorter.hpp"
#include "core/base/error.hpp"

namespace strata::npb::is {
namespace {

// clang-format off
constexpr Problem kProblems[] = {
    {16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463},
     {1, 1, 1, -1, -1}, {}},                                                              // S
    {20, 16, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018},
     {1, 1, -1, -1, -1}, {2, 2, 0, 0, 0}},                                                // W
    {23, 19, {2112377, 662041, 5336171, 3642833, 4250760}, {104, 17523, 123928, 8288932, 8388264},
     {1, 1, 1, -1, -1}, {1, 1, 1, 1, 1}},                                                 // A
    {25, 21, {41869, 812306, 5102857, 18232239, 26860214}, {33422937, 10244, 59149, 33135281, 99},
     {-1, 1, 1, -1, 1}, {}},                                                              // B
    {27, 23, {44172927, 72999161, 74326391, 129606274, 21736814}, {61147, 882988, 266290, 133997595, 133525895},
     {1, 1, 1, -1, -1}, {}},                                                              // C
    {31, 27, {1317351170, 995930646, 1157283250, 1503301535, 1453734525},
     {1, 36538729, 1978098519, 2145192618, 2147425337}, {1, 1, -1, -1, -1}, {}},          // D
    {35, 31, {21492309536, 24606226181, 12608530949, 4065943607, 3324513396},
     {3, 27580354, 3248475153, 30048754302, 31485259697}, {1, 1, 1, -1, -1}, {2, 2, 2, 2, 2}},  // E
};
// clang-format on

Plan plan(Class size, int processes, int workers) {
    const Problem& p = problem(size);
    Plan plan{fmt::format("{}", p.keys()),
              kIterations,
              fmt::format("{} process{} with a range of buckets each, {} worker{} in each", processes,
                          processes == 1 ? "" : "es", workers, workers == 1 ? "" : "s"),
              {}};
    for (const auto& [what, bytes] : Sorter::needs(p, processes, workers))
        if (bytes > 0) plan.needs.push_back({what, bytes});
    return plan;
}

Outcome run(Class size, Group& group, Break fault) {
    Sorter sorter(problem(size), group, fault);
    bench::Progress progress("iterations of IS", kIterations);
    Outcome outcome;
    sorter.make_keys();
    sorter.rank(1);  // for touching all there is; not counted
    group.meet();
    const double start = bench::now();
    double wrong = 0;
    for (int i = 1; i <= kIterations; ++i) {
        sorter.rank(i);
        const auto ranks = sorter.test_ranks();
        for (std::size_t t = 0; t < kTests; ++t) wrong += ranks[t] == official_rank(size, t, i) ? 0 : 1;
        if (group.first()) progress.step();
    }
    outcome.seconds = group.max(bench::now() - start);
    outcome.operations = static_cast<double>(problem(size).keys()) * kIterations;
    outcome.operation_type = "keys ranked";
    outcome.bytes = sorter.bytes() * kIterations;
    const auto unsorted = static_cast<double>(sorter.out_of_order());
    outcome.checks = {{"wrong ranks in partial verification", wrong, 0, wrong, 0},
                      {"keys out of order in full verification", unsorted, 0, unsorted, 0}};
    return outcome;
}

}  // namespace

const Problem& problem(Class size) {
    if (index(size) >= std::size(kProblems))
        throw Error("the suite has no such class of IS")
            .given(std::string(1, letter(size)))
            .allowed("S, W, A, B, C, D, E");
    return kProblems[index(size)];
}

std::int64_t official_rank(Class size, std::size_t t, int iteration) {
    const Problem& p = problem(size);
    std::int64_t rank = p.rank[t] + p.sign[t] * (iteration - p.delay[t]);
    // In class E the key of the third test is passed by others on its way.
    if (size == Class::E && t == 2) rank -= iteration > 4 ? 2 : iteration > 2 ? 1 : 0;
    return rank;
}

const Benchmark benchmark = {"is", "ranks of integer keys", plan, run};

}  // namespace strata::npb::is
