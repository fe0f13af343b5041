#include "solvers/flow/settings.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/flow/boundary_keys.hpp"
#include "solvers/flow/frame.hpp"

namespace strata::flow {

namespace {

using graph::CaseSchema;

void add_overset_keys(CaseSchema& keys, OversetKeys& o) {
    keys.key(
        "overset.better", &o.better,
        {.choices = {"volume", "wall distance"},
         .meaning =
             "meshes that overlap: the cell is computed that is smaller, or nearer to a wall of its mesh"});
    keys.key("overset.orphans", &o.orphans,
             {.least = 0, .meaning = "cells without a donor, at most; more of them end the run"});
    keys.key("overset.fringe", &o.fringe,
             {.least = 2,
              .most = 8,
              .meaning = "layers of receptors where a mesh ends within others; more move the overlap"});
    keys.key(
        "overset.lean", &o.lean,
        {.least = 0.01,
         .most = 100,
         .meaning = "cells of each mesh count so many times their volume (or distance) as those of the mesh "
                    "before it; other than 1 it moves the overlap"});
}

void add_flow_keys(CaseSchema& keys, FlowKeys& f) {
    keys.key("flow.equations", &f.equations,
             {.choices = {"euler", "laminar", "rans"}, .meaning = "without viscosity, with it, or averaged"});
    keys.key(
        "flow.model", &f.model,
        {.choices = {"sa", "sa-neg", "sst", "sst-v"},
         .meaning = "of turbulence: Spalart and Allmaras', or its negative form; Menter's SST, or its form "
                    "with production by the vorticity (SST-Vm)"});
    keys.key(
        "flow.mach", &f.mach,
        {.least = 0, .most = 100, .meaning = "of the far field; 0: at rest, with reference.mach or a rotor"});
    keys.key(
        "flow.reynolds", &f.reynolds,
        {.least = 0, .above_least = true, .meaning = "of the far field, for a unit of length of the grid"});
    keys.key("flow.alpha", &f.alpha,
             {.unit = "degrees", .least = -180, .most = 180, .meaning = "of attack: from x to `up`"});
    keys.key("flow.up", &f.up,
             {.choices = {"y", "z"}, .meaning = "the direction of lift at no angle of attack"});
    keys.key("flow.beta", &f.beta, {.unit = "degrees", .least = -90, .most = 90, .meaning = "of side slip"});
    keys.key(
        "flow.temperature", &f.temperature,
        {.unit = "K", .least = 0, .above_least = true, .meaning = "of the far field, for Sutherland's law"});
    keys.key("flow.gamma", &f.gamma,
             {.least = 1, .most = 2, .above_least = true, .meaning = "ratio of heats"});
    keys.key("flow.prandtl", &f.prandtl, {.least = 0, .above_least = true, .meaning = "laminar"});
    keys.key("flow.turbulent_prandtl", &f.turbulent_prandtl, {.least = 0, .above_least = true});
    keys.key("flow.nu_tilde", &f.nu_tilde,
             {.least = 0, .meaning = "Spalart's variable in the far field, over its viscosity"});
    keys.key("flow.k", &f.k,
             {.least = 0,
              .most = 1,
              .above_least = true,
              .meaning = "sst: turbulent energy in the far field, over its speed of sound squared"});
    keys.key("flow.omega", &f.omega,
             {.least = 0,
              .above_least = true,
              .meaning = "sst: omega in the far field, times its viscosity over density and speed of sound "
                         "squared"});
    keys.key("flow.axisymmetric", &f.axisymmetric,
             {.meaning = "two dimensions: x is the axis and y the distance from it"});
    keys.key(
        "flow.initial", &f.initial,
        {.choices = {"uniform", "vortex", "shock tube", "blast waves"},
         .meaning =
             "at first: the far field; in it an isentropic vortex; two states beside each other; Woodward "
             "and Colella's gas at rest, of pressure 1000 below x = 0.1, 100 above 0.9 and 0.01 between"});
    keys.key(
        "flow.start", &f.start,
        {.meaning =
             "PLOT3D Q file at the nodes of the same grid, for the first values (turbulence is that of the "
             "far field); none: `initial`"});
}

void add_initial_keys(CaseSchema& keys, InitialKeys& i) {
    keys.key("initial.strength", &i.strength, {.meaning = "vortex: 2 pi times its largest speed, about"});
    keys.key("initial.radius", &i.radius, {.least = 0, .above_least = true, .meaning = "vortex"});
    keys.key("initial.centre", &i.centre, {.entries = {2, 3}, .meaning = "vortex"});
    keys.key("initial.left", &i.left,
             {.entries = {3, 3}, .meaning = "shock tube: density, velocity, pressure"});
    keys.key("initial.right", &i.right, {.entries = {3, 3}, .meaning = "shock tube"});
    keys.key("initial.place", &i.place, {.meaning = "shock tube: x where the states meet"});
}

void add_scheme_keys(CaseSchema& keys, SchemeKeys& s) {
    keys.key("scheme.order", &s.order, {.least = 1, .most = 2, .meaning = "of the convective fluxes"});
    keys.key(
        "scheme.kappa", &s.kappa,
        {.least = -1, .most = 1, .meaning = "of MUSCL: 1/3 third order on a line, -1 upwind, 0 Fromm's"});
    keys.key("scheme.limiter", &s.limiter,
             {.choices = {"none", "minmod", "van albada", "van leer"}, .meaning = "of slopes"});
    keys.key("scheme.entropy_fix", &s.entropy_fix,
             {.least = 0, .most = 1, .meaning = "Harten's, as a share of |u| + a; 0: none"});
    keys.key("scheme.low_mach", &s.low_mach,
             {.meaning = "Rieper's form of Roe's flux: less smoothing of velocities at low Mach numbers"});
    keys.key("scheme.turbulence_order", &s.turbulence_order,
             {.least = 1, .most = 2, .meaning = "of the advection of the turbulence model's variables"});
}

void add_time_keys(CaseSchema& keys, TimeKeys& t) {
    keys.key(
        "time.kind", &t.kind,
        {.choices = {"steady", "unsteady"}, .meaning = "local time steps, or dual ones of second order"});
    keys.key("time.iterations", &t.iterations,
             {.least = 1,
              .decides = false,
              .restart = graph::Restart::end,
              .meaning = "steady: at most, on the finest grid"});
    keys.key(
        "time.residual", &t.residual,
        {.least = 0,
         .decides = false,
         .restart = graph::Restart::end,
         .meaning = "steady: the run ends where the residual of density is below; 0: after all iterations"});
    keys.key("time.implicit", &t.implicit,
             {.choices = {"lu-sgs", "lines"},
              .meaning = "viscous flow: sweeps point by point, or lines along each axis"});
    keys.key("time.cfl", &t.cfl, {.least = 0, .above_least = true, .meaning = "local steps: Courant number"});
    keys.key("time.cfl_start", &t.cfl_start,
             {.least = 0, .above_least = true, .meaning = "of the first step"});
    keys.key("time.ramp", &t.ramp, {.least = 0, .meaning = "iterations over which the CFL number grows"});
    keys.key("time.cfl_turbulence", &t.cfl_turbulence,
             {.least = 0, .meaning = "of the turbulence model; 0: the same"});
    keys.key("time.cfl_across", &t.cfl_across,
             {.least = 0,
              .above_least = true,
              .meaning = "lines: at most, along all axes but the one along which a cell is thinnest"});
    keys.key("time.most_change", &t.most_change,
             {.least = 0,
              .most = 1,
              .above_least = true,
              .meaning = "of density and pressure of a cell in one step, as a share"});
}

void add_coarse_grid_keys(CaseSchema& keys, TimeKeys& t) {
    keys.key("time.sequence", &t.sequence,
             {.least = 1,
              .entries = {0, 4},
              .meaning = "steady: iterations on grids of every second point, of the coarsest grid first"});
    keys.key(
        "time.multigrid", &t.multigrid,
        {.least = 1,
         .most = 8,
         .meaning = "steady: grids of a cycle, each of every second point of the one before; 1: no cycles"});
    keys.key("time.cycle", &t.cycle,
             {.choices = {"v", "w"}, .meaning = "of multigrid: each coarser grid once, or twice"});
    keys.key(
        "time.smooth", &t.smooth,
        {.least = 0,
         .most = 10,
         .entries = {2, 2},
         .meaning = "iterations on coarser grids of a cycle before and after those that are coarser still"});
}

void add_unsteady_keys(CaseSchema& keys, TimeKeys& t) {
    keys.key("time.end", &t.end,
             {.least = 0,
              .decides = false,
              .restart = graph::Restart::end,
              .meaning = "unsteady, in lengths over speeds of sound"});
    keys.key("time.step", &t.step, {.least = 0, .meaning = "unsteady"});
    keys.key("time.subiterations", &t.subiterations,
             {.least = 1, .most = 10000, .meaning = "unsteady: at most, of each step"});
    keys.key(
        "time.drop", &t.drop,
        {.least = 0, .most = 1, .meaning = "unsteady: of the residual in a step, then the next one begins"});
}

void add_reference_and_check_keys(CaseSchema& keys, ReferenceKeys& r, VerifyKeys& v) {
    keys.key("reference.mach", &r.mach,
             {.least = 0,
              .most = 100,
              .meaning = "of the speed by which coefficients are divided and of which flow.reynolds is; 0: "
                         "that of the rotor's tips (frame.radius), or else of the far field"});
    keys.key("reference.area", &r.area,
             {.least = 0, .above_least = true, .meaning = "of coefficients; in two dimensions a length"});
    keys.key("reference.length", &r.length, {.least = 0, .above_least = true, .meaning = "of moments"});
    keys.key("reference.moment_centre", &r.moment_centre, {.entries = {2, 3}});
    keys.key("verify.uniform", &v.uniform,
             {.least = 0,
              .decides = false,
              .meaning = "largest departure from the far field at the end; 0: not compared"});
    keys.key("verify.error", &v.error,
             {.least = 0,
              .decides = false,
              .meaning = "root-mean-square error of the density at the end; 0: not compared"});
    keys.key("verify.drop", &v.drop,
             {.least = 0,
              .most = 1,
              .decides = false,
              .meaning = "last residual of density over the largest one; 0: not compared"});
    for (const auto& [name, into] :
         {std::pair{"lift", &v.lift}, {"drag", &v.drag}, {"moment", &v.moment}, {"thrust", &v.thrust}})
        keys.key(std::string("verify.") + name, into,
                 {.entries = {0, 2},
                  .decides = false,
                  .meaning = "least and most of the coefficient; none: not compared"});
}

void add_output_keys(CaseSchema& keys, OutputKeys& o) {
    keys.key(
        "output.surface", &o.surface,
        {.least = 0,
         .decides = false,
         .meaning = "with --out: walls are written every so many steps (surface-STEP.csv), and at the end"});
    keys.key("output.vortices", &o.vortices,
             {.least = 0,
              .meaning = "vorticity and Q criterion are found every so many steps, for field files and "
                         "slices; 0: never"});
    keys.key("output.plot3d", &o.plot3d,
             {.least = 0,
              .meaning =
                  "with --out: the state at the nodes of the grid's own zones every so many steps, as PLOT3D "
                  "(grid.xyz, STEP.q); 0: never"});
    keys.key(
        "output.slices", &o.slices,
        {.entries = {0, 64},
         .meaning = "cuts through the flow (slice-NAME-STEP.csv, .vtp): planes \"x = 0.5\", all nodes with "
                    "one index, \"2: k = 5\" (zone, node, from 1); half planes through the frame's "
                    "axis, \"azimuth = 60\" (degrees, "
                    "right-handed, from the axis after it); with output.vortices surfaces of the Q "
                    "criterion, \"Q = 0.01\""});
    keys.key("output.slice_steps", &o.slice_steps,
             {.least = 0,
              .decides = false,
              .meaning = "with --out: they are written every so many steps, and at the end"});
    keys.key(
        "output.average", &o.average,
        {.least = -1,
         .meaning = "means and root-mean-square departures of state and forces, over all steps after this "
                    "time (steady: iteration; those on coarser grids never count); -1: "
                    "none"});
    keys.key(
        "output.probes", &o.probes,
        {.entries = {0, 192},
         .meaning =
             "two or three numbers a point: density, velocity, pressure there as columns of the series"});
    keys.key(
        "output.stations", &o.stations,
        {.least = 0,
         .most = 1,
         .entries = {0, kMostStations},
         .meaning = "of a rotor, as shares of frame.radius: the lift of the blades' sections there in the "
                    "result"});
}

Limiter limiter_named(const std::string& name) {
    return name == "minmod"       ? Limiter::minmod
           : name == "van albada" ? Limiter::van_albada
           : name == "van leer"   ? Limiter::van_leer
                                  : Limiter::none;
}

}  // namespace

void declare_keys(CaseSchema& keys, Settings& s) {
    // Six keys of `output` are among those: from outside nothing says why.
    keys.instead_of_restart(
        "what steps find for output.vortices, plot3d, slices, average, probes and stations is part of the "
        "state, too. A new case may begin with the flow that a run with output.plot3d has written: "
        "flow.start = \"RUN/STEP.q\"");
    add_grid_keys(keys, s.grid);
    add_flow_keys(keys, s.flow);
    add_frame_keys(keys, s.frame);
    add_initial_keys(keys, s.initial);
    add_scheme_keys(keys, s.numerics);
    add_time_keys(keys, s.time);
    add_coarse_grid_keys(keys, s.time);
    add_unsteady_keys(keys, s.time);
    add_output_keys(keys, s.output);
    add_reference_and_check_keys(keys, s.reference, s.verify);
    add_overset_keys(keys, s.overset);
    keys.tables("mesh",
                [&s](CaseSchema& of, const std::string& name) { add_mesh_keys(of, name, s.meshes[name]); });
    keys.tables("boundary", [&s](CaseSchema& of, const std::string& name) {
        add_boundary_keys(of, name, s.boundaries[name]);
    });
}

CaseSchema schema(Settings& s) {
    CaseSchema keys(kSolver, kSummary);
    declare_keys(keys, s);
    return keys;
}

Scheme Settings::scheme() const {
    Scheme scheme;
    scheme.gas.gamma = flow.gamma;
    scheme.gas.prandtl = flow.prandtl;
    scheme.gas.turbulent_prandtl = flow.turbulent_prandtl;
    scheme.gas.mach = reference_mach();
    scheme.gas.reynolds = flow.reynolds;
    scheme.gas.sutherland = 198.6 / 1.8 / flow.temperature;
    scheme.muscl = {numerics.order == 1, numerics.kappa, limiter_named(numerics.limiter)};
    scheme.entropy_fix = numerics.entropy_fix;
    scheme.low_mach = numerics.low_mach;
    if (flow.equations == "laminar") scheme.viscosity = Viscosity::laminar;
    const bool sst = flow.model == "sst" || flow.model == "sst-v";
    if (flow.equations == "rans") scheme.viscosity = sst ? Viscosity::sst : Viscosity::spalart_allmaras;
    scheme.sst.vorticity = flow.model == "sst-v";
    scheme.sst.second_order = numerics.turbulence_order == 2;
    scheme.sa.negative = flow.model == "sa-neg";
    scheme.sa.second_order = numerics.turbulence_order == 2;
    scheme.axisymmetric = flow.axisymmetric;
    scheme.spin = about_axis(rotation_rate());
    return scheme;
}

int Settings::grids() const {
    return static_cast<int>(
        std::max<std::int64_t>(static_cast<std::int64_t>(time.sequence.size()) + 1, time.multigrid));
}

const double* Settings::steered_cfl(graph::Graph& graph) const {
    return graph.parameter({.name = "cfl",
                            .about = "Courant number of local time steps, after the ramp",
                            .value = time.cfl,
                            .least = std::min(1e-3, time.cfl),
                            .most = std::max(1e6, time.cfl)});
}

Stages Settings::stages() const {
    std::vector<std::int64_t> all = time.sequence;
    all.push_back(time.iterations);
    return Stages(all);
}

double Settings::cfl_at(std::int64_t iteration, double cfl) const {
    if (time.ramp == 0 || iteration >= time.ramp) return cfl;
    const double part = static_cast<double>(iteration) / static_cast<double>(time.ramp);
    return time.cfl_start * std::pow(cfl / time.cfl_start, part);
}

Reference Settings::reference_values(int dimensions) const {
    Reference r;
    r.mach = reference_mach();
    r.reynolds = flow.equations == "euler" ? 0 : flow.reynolds;
    r.area = reference.area, r.length = reference.length;
    for (std::size_t d = 0; d < reference.moment_centre.size(); ++d) r.centre[d] = reference.moment_centre[d];
    r.alpha = flow.alpha, r.beta = flow.beta;
    r.up = dimensions == 3 && flow.up == "z" ? 2 : 1;
    return r;
}

Real3 Settings::velocity(int dimensions) const {
    Real3 u = reference_values(dimensions).stream();
    for (double& component : u) component *= flow.mach;
    return u;
}

FlowState Settings::far_field(int dimensions) const {
    return {.rho = 1,
            .u = velocity(dimensions),
            .p = 1 / flow.gamma,
            .nu_tilde = flow.nu_tilde,
            .k = flow.k,
            .omega = flow.omega / scheme().gas.viscous_scale()};
}

}  // namespace strata::flow
