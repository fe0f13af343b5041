// What no physics can be: energy that nothing has given, and steps that shrink to nothing. The step after
// that in which it is found ends the run, at the fastest point.
#pragma once

#include <array>

#include "core/graph/declare/graph.hpp"

namespace strata::mpm {

struct Step;

/// Energy (kinetic, strain, plastic, of friction) less the work of loads may grow by so many times the
/// largest that the start and loads have given so far. Where walls or plates move, nobody adds up their work,
/// and it may grow without a limit.
inline constexpr double kMostGrowth = 10;
/// Waves and points may cross so many times as many cells a second as the case lets them: waves of the
/// undeformed materials on bodies as fast as at the start, or as gravity makes them until the end. A step is
/// then a hundredth of the first.
inline constexpr double kMostRate = 100;

/// Of a step that was found to be no physics; the first is 0 where it was none.
enum Alarm : std::size_t {
    kAlarmEnergy,   // kinetic and strain energy, J
    kAlarmGiven,    // what start and loads have given, J
    kAlarmRate,     // times as many cells a second; 0: energy is what grew
    kAlarmFastest,  // cells a second of the fastest point
    kAlarms
};

/// labels.given and labels.alarm.
void make_growth_labels(const Step& step);
/// Looks at the step's energies and rates.
void look_for_growth(const Step& step);

/// What a task over points needs to end the run: where the alarm is on, and a point of its patch the fastest.
class GrowthCheck {
  public:
    GrowthCheck(const Step& step, graph::Task& task, graph::ListUse<const double> x,
                graph::ListUse<const double> v, graph::ListUse<const double> mass);
    void look(const graph::Here& here) const {
        if (here[alarm_][kAlarmEnergy] > 0) end(here);
    }

  private:
    void end(const graph::Here& here) const;

    graph::ScalarUse<const std::array<double, kAlarms>> alarm_;
    graph::ListUse<const double> x_, v_, mass_;
    graph::Real3 per_h_;
    bool linear_ = false;
    const double* cfl_ = nullptr;
};

}  // namespace strata::mpm
