// The units of a case: those of LAMMPS's `units lj`, `metal` and `real`
// (https://docs.lammps.org/units.html), so that numbers go from one program to the other as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::md {

/// What a system of units needs besides its names: the factors between its own quantities.
///
///   system  length   time  energy    mass   temperature  pressure
///   lj      sigma    tau   epsilon   m      epsilon/k_B  epsilon/sigma^3
///   metal   A        ps    eV        g/mol  K            bar
///   real    A        fs    kcal/mol  g/mol  K            atm
struct Units {
    std::string name, length, time, energy, mass, temperature, pressure, force, velocity;
    /// k_B: energy = k_B temperature.
    double boltzmann = 1;
    /// energy = mass_velocity2 * mass * velocity^2.
    double mass_velocity2 = 1;
    /// pressure = energy_density * energy / length^3.
    double energy_density = 1;
    /// The time step that a case has where it names none, as in LAMMPS.
    double time_step = 0.005;
    /// Femtoseconds of a unit of time; 0: none (lj).
    double femtoseconds = 0;
    /// density = mass_density * mass / length^3.
    double mass_density = 1;
    std::string density = "m/sigma3";

    /// acceleration = acceleration() * force / mass.
    [[nodiscard]] double acceleration() const { return 1 / mass_velocity2; }
    /// Of atoms with this kinetic energy in all and so many degrees of freedom; 0 where there are none.
    [[nodiscard]] double temperature_of(double kinetic, double degrees) const {
        return degrees > 0 ? 2 * kinetic / (degrees * boltzmann) : 0;
    }
    /// k_B T / m as the square of a velocity: what each component of a velocity has on average.
    [[nodiscard]] double velocity2_of(double at_temperature, double of_mass) const {
        return boltzmann * at_temperature / (mass_velocity2 * of_mass);
    }
    /// From the traces: of the kinetic energy (all of it, E) and of the virial (sum of r_ij f_ij).
    [[nodiscard]] double pressure_of(double kinetic, double virial, double volume) const {
        return energy_density * (2 * kinetic + virial) / (3 * volume);
    }
};

/// By name; throws Error where there is none of this name.
[[nodiscard]] const Units& units(std::string_view name);
[[nodiscard]] std::vector<std::string> units_names();

}  // namespace strata::md
