#include "solvers/md/fire.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/md/labels.hpp"
#include "solvers/md/step.hpp"

namespace strata::md {

using namespace graph;

Course Fire::advance(const Slopes& now, std::int64_t step, double longest) {
    const bool downhill = now.fv > 0;
    Course course{};
    if (downhill) {
        if (++downhill_ > kDelay) {
            dt_ = std::min(dt_ * kFaster, kMost * first_);
            share_ *= kShareFactor;
        }
    } else {
        downhill_ = 0;
        if (step >= kDelay) {
            if (dt_ * kSlower >= kLeast * first_) dt_ *= kSlower;
            share_ = kFirstShare;
        }
        course.back = -last_ / 2;
    }
    course.stay = downhill ? 1 : 0;
    // (largest_v + dt largest_a) dt = longest.
    const double v = downhill ? std::sqrt(now.largest_v) : 0, a = std::sqrt(now.largest_a);
    course.dt = a > 0 || v > 0 ? std::min(dt_, 2 * longest / (v + std::sqrt(v * v + 4 * a * longest))) : dt_;
    const double square = course.stay * (now.vv + 2 * course.dt * now.fa) + course.dt * course.dt * now.aa;
    last_ = course.dt;
    course.keep = 1 - share_;
    course.turn = now.ff > 0 ? share_ * std::sqrt(std::max(0.0, square) / now.ff) : 0;
    return course;
}

namespace {

/// Forces as they are seen by FIRE, of a patch.
void measure(const Step& step, Scope& scope, const std::string& name) {
    const Labels& l = step.labels;
    Task task = scope.task(name + "measure slopes", step.grid);
    const auto force = task.need(l.force);
    const auto v = task.need(l.v);
    const auto products = task.contribute(l.products);
    const auto largest = task.contribute(l.largest);
    const auto sums = task.contribute(l.sums);
    const auto species = task.need(l.species);
    task.run([=, &s = step.settings, shares = step.settings.mass_shares()](Here& here) {
        const double *f[3], *u[3];
        pointers(here[force], f), pointers(here[v], u);
        const std::int32_t* const kinds = pointer(here[species]);
        Slopes all{};
        double most = 0;
        for (std::int64_t i = 0; i < here[v].size(); ++i) {
            const double per =
                1 / (s.kinetic_unit() * (kinds != nullptr ? shares[static_cast<std::size_t>(kinds[i])] : 1));
            double ff = 0, vv = 0, fv = 0;
            for (int c = 0; c < 3; ++c)
                ff += f[c][i] * f[c][i], vv += u[c][i] * u[c][i], fv += f[c][i] * u[c][i];
            all.fv += fv, all.vv += vv, all.ff += ff, all.fa += per * fv, all.aa += per * per * ff;
            most = std::max(most, ff);
            all.largest_a = std::max(all.largest_a, per * per * ff);
            all.largest_v = std::max(all.largest_v, vv);
        }
        std::array<double, 5>& to = here[products];
        to = {all.fv, all.vv, all.fa, all.aa, all.ff};
        std::array<double, 3>& squares = here[largest];
        squares = {most, all.largest_a, all.largest_v};
        here[sums].resize(kSums);  // without kinetic energy
    });
}

/// Whether the run ends, and what atoms do in the next step.
void judge(const Step& step, Scope& scope) {
    const Labels& l = step.labels;
    const bool start = scope.id() == kStart;
    Task task = scope.once(start ? "first course" : "course");
    const auto kept = start ? task.make(l.pace) : task.modify(l.pace);
    task.run([=, products = task.need(l.products), largest = task.need(l.largest),
              course = task.make(l.course), done = task.make(l.done),
              most = task.make(l.thermo.largest_force), &s = step.settings](Here& here) {
        const std::array<double, 5>& p = here[products];
        const std::array<double, 3>& m = here[largest];
        std::array<double, 5>& to = here[course];
        here[most] = std::sqrt(m[0]);
        const bool converged = here[most] <= s.least_force;
        here[done] = converged || here.step >= s.steps ? 1 : 0;
        Fire fire = here.step == 0 ? Fire(s.step) : Fire(here[kept], s.step);
        to = {};
        // The first velocities do not count.
        const Slopes now{here.step == 0 ? 0 : p[0], p[1], p[2], p[3], p[4], m[1], m[2]};
        if (!converged) {
            const Course next = fire.advance(now, here.step, s.longest_way);
            to = {next.back, next.stay, next.keep, next.turn, next.dt};
        }
        here[kept] = fire.kept();
    });
}

/// Velocities, and the way of the next step.
void turn(const Step& step, Scope& scope) {
    const Labels& l = step.labels;
    const bool start = scope.id() == kStart;
    Task task = scope.task(start ? "first turn" : "turn", step.grid);
    const auto force = task.need(l.force);
    const auto v = task.modify(l.v);
    const auto ahead = start ? task.make(l.ahead) : task.modify(l.ahead);
    const auto course = task.need(l.course);
    const auto species = task.need(l.species);
    task.run([=, &s = step.settings, shares = step.settings.mass_shares()](Here& here) {
        const double* f[3];
        double *u[3], *way[3];
        pointers(here[force], f), pointers(here[v], u), pointers(here[ahead], way);
        const std::int32_t* const kinds = pointer(here[species]);
        const std::array<double, 5>& by = here[course];
        const Course c{by[0], by[1], by[2], by[3], by[4]};
        for (std::int64_t i = 0; i < here[v].size(); ++i) {
            const double mass =
                s.kinetic_unit() * (kinds != nullptr ? shares[static_cast<std::size_t>(kinds[i])] : 1);
            for (int a = 0; a < 3; ++a) {
                const double before = u[a][i];
                u[a][i] = c.keep * (c.stay * before + c.dt / mass * f[a][i]) + c.turn * f[a][i];
                way[a][i] = c.back * before + c.dt * u[a][i];
            }
        }
    });
}

}  // namespace

void go_downhill(const Step& step, Scope& scope) {
    measure(step, scope, scope.id() == kStart ? "first " : "");
    judge(step, scope);
    turn(step, scope);
}

}  // namespace strata::md
