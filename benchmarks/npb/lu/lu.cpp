#include "benchmarks/npb/lu/lu.hpp"

#include <fmt/format.h>

#include "benchmarks/npb/flow/timed.hpp"
#include "benchmarks/npb/lu/integral.hpp"
#include "benchmarks/npb/lu/waves.hpp"

namespace strata::npb::lu {
namespace {

constexpr flow::Problem kProblems[] = {
    // S
    {12,
     50,
     0.5,
     {{1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03, 1.5029584435994323e-03,
       3.4264073155896461e-02},
      {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05, 5.8474222595157350e-05,
       1.3103347914111294e-03}},
     7.8418928865937083},
    // W
    {33,
     300,
     0.0015,
     {{0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01,
       0.2826799444189e+02},
      {0.4867877144216, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01, 0.1084277417792e+01}},
     0.1161399311023e+02},
    // A
    {64,
     250,
     2.0,
     {{7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02, 1.7845301160418537e+02,
       1.8384760349464247e+03},
      {2.9964085685471943e+01, 2.8194576365003349, 7.3473412698774742, 6.7139225687777051,
       7.0715315688392578e+01}},
     2.6030925604886277e+01},
    // B
    {102,
     250,
     2.0,
     {{3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02, 7.7812774739425265e+02,
       7.3087969592545314e+03},
      {1.1401176380212709e+02, 8.1098963655421574, 2.8480597317698308e+01, 2.5905394567832939e+01,
       2.6054907504857413e+02}},
     4.7887162703308227e+01},
    // C
    {162,
     250,
     2.0,
     {{1.03766980323537846e+04, 8.92212458801008552e+02, 2.56238814582660871e+03, 2.19194343857831427e+03,
       1.78078057261061185e+04},
      {2.15986399716949279e+02, 1.55789559239863600e+01, 5.41318863077207766e+01, 4.82262643154045421e+01,
       4.55902910043250358e+02}},
     6.66404553572181300e+01},
    // D
    {408,
     300,
     1.0,
     {{0.4868417937025e+05, 0.4696371050071e+04, 0.1218114549776e+05, 0.1033801493461e+05,
       0.7142398413817e+05},
      {0.3752393004482e+03, 0.3084128893659e+02, 0.9434276905469e+02, 0.8230686681928e+02,
       0.7002620636210e+03}},
     0.8334101392503e+02},
    // E
    {1020,
     300,
     0.5,
     {{0.2099641687874e+06, 0.2130403143165e+05, 0.5319228789371e+05, 0.4509761639833e+05,
       0.2932360006590e+06},
      {0.4800572578333e+03, 0.4221993400184e+02, 0.1210851906824e+03, 0.1047888986770e+03,
       0.8363028257389e+03}},
     0.9512163272273e+02},
    // F
    {2560,
     300,
     0.2,
     {{0.8505125358152e+06, 0.8774655318044e+05, 0.2167258198851e+06, 0.1838245257371e+06,
       0.1175556512415e+07},
      {0.5293914132486e+03, 0.4784861621068e+02, 0.1337701281659e+03, 0.1154215049655e+03,
       0.8956266851467e+03}},
     0.1002509436546e+03},
};

Plan plan(Class size, int processes, int workers) {
    const flow::Problem& problem = problem_of(size);
    const flow::Partition partition = flow::Partition::columns(problem.n(), 0, processes);
    partition.require_room();
    Plan plan{problem.size_text(), problem.iterations,
              fmt::format("{} x {} processes in x and y, rows over {} worker{} in each", partition.cuts()[0],
                          partition.cuts()[1], workers, workers == 1 ? "" : "s"),
              flow::Domain::needs(partition, workers)};
    for (const Need& need : Waves::needs(partition, workers)) plan.needs.push_back(need);
    return plan;
}

Outcome run(Class size, Group& group, Break fault) {
    const flow::Problem& problem = problem_of(size);
    flow::Domain domain(flow::Partition::columns(problem.n(), group.rank(), group.size()), group);
    Waves waves(domain, problem.dt, fault);
    const auto evaluate = [&] {
        domain.exchange();
        domain.evaluate(1);
    };
    domain.force();
    domain.begin();
    evaluate();
    waves.run();  // an iteration for touching all there is, which is not counted
    domain.begin();
    evaluate();
    flow::State residual{};
    const auto iterate = [&] {
        waves.run();
        evaluate();
    };
    const double seconds = flow::timed(group, "iterations of LU", problem.iterations, iterate,
                                       [&] { residual = domain.rhs_norm(); });
    return concluded(problem, seconds, residual, domain.error_norm(), surface_integral(domain));
}

}  // namespace

const flow::Problem& problem_of(Class size) { return kProblems[index(size)]; }

Outcome concluded(const flow::Problem& problem, double seconds, const flow::State& residual,
                  const flow::State& error, double integral) {
    Outcome outcome;
    outcome.seconds = seconds;
    outcome.operations = problem.iterations * kOperations.of(problem.n());
    outcome.checks = flow::checks(residual, error, problem.official);
    outcome.checks.push_back(
        relative("relative error of the surface integral", integral, problem.integral, 1e-8));
    outcome.lines = flow::norm_lines(residual, error);
    outcome.lines.push_back(fmt::format("surface integral {:23.16e}", integral));
    return outcome;
}

const Benchmark benchmark = {"lu", "flow equations by symmetric successive over-relaxation", plan, run};

}  // namespace strata::npb::lu
