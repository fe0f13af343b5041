// What a case of this solver may say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"
#include "core/graph/declare/graph.hpp"
#include "core/run/case/case.hpp"
#include "methods/curvilinear/generate.hpp"
#include "solvers/flow/boundary/conditions.hpp"
#include "solvers/flow/motion.hpp"
#include "solvers/flow/output/reference.hpp"
#include "solvers/flow/output/rotor.hpp"
#include "solvers/flow/scheme/options.hpp"
#include "solvers/flow/stages.hpp"

namespace strata::flow {

using graph::Real3;

inline constexpr const char* kSolver = "flow";
inline constexpr const char* kSummary =
    "Compressible flow on curvilinear zones: finite volumes, implicit, RANS.";

/// A place as a case gives it: coordinates that it leaves out are `rest`.
[[nodiscard]] inline Real3 place(const std::vector<double>& given, double rest) {
    Real3 x{rest, rest, rest};
    for (std::size_t d = 0; d < given.size(); ++d) x[d] = given[d];
    return x;
}

/// The values before reading are the defaults.
struct GridKeys {
    std::string section = "grid";  // where its keys are, for messages
    std::string kind = "file";
    // files
    std::string file, map, form;
    std::int64_t dimensions = 0, coarsen = 0;
    std::vector<double> shift;  // of places beyond a periodic join
    double turn = 0;            // degrees: of a sector that stands for a whole
    std::string turn_axis = "x";
    // generators
    std::vector<std::int64_t> cells, zones;
    std::vector<double> low{0, 0, 0}, high{1, 1, 1};
    double wave = 0, stretch = 0, first = 0, first_along = 2e-3, first_nose = 0, farfield = 0, beyond = 0,
           first_tip = 0;
    std::vector<double> core;            // of a sector: its radius, and from where to where along the axis
    GeneratorNumbers own;                // what one kind alone has, as its generator has it
    std::vector<std::int64_t> periodic;  // axes, from 1
    bool turned = false;
    std::string naca = "0012", tail = "scaled";
    // both
    std::vector<std::int64_t> patch{64, 32, 32};
    std::vector<std::int64_t> zone;  // cells along each axis, at most; none: zones are as they are
    MotionKeys motion;

    /// Of a whole that goes around an axis: velocities turn beyond its ends. A turn of 360 degrees is the
    /// whole.
    [[nodiscard]] bool is_part() const { return turn != 0 && turn != 360; }
};

/// What holds on one boundary of the grid.
struct BoundaryKeys {
    std::string kind;
    double temperature = 0;  // of the wall, over the far field's; 0: adiabatic
    std::vector<double> velocity;
    std::vector<double>
        rotation;             // of a wall that does not move with the grid: its rate about the frame's axis
    double hover_thrust = 0;  // of a far field: the thrust coefficient of a rotor in hover
    double total_pressure = 1, total_temperature = 1;  // over the far field's static ones
    std::vector<double> direction;
    double pressure = 1;   // over the far field's
    double mass_flow = 0;  // through the whole boundary, over rho a L^2 of the far field
};

/// One of several grids that overlap.
struct MeshKeys {
    GridKeys grid;
    bool cuts = true;  // its walls cut holes into other meshes
    std::string on;    // another mesh, on whose walls its own lie
};

struct OversetKeys {
    std::string better = "volume";
    std::int64_t orphans = 0, fringe = 2;
    double lean = 1;
};

struct FlowKeys {
    std::string equations = "euler", model = "sa", up = "y";
    double mach = 0.2, reynolds = 1e6, alpha = 0, beta = 0, temperature = 300, gamma = 1.4, prandtl = 0.72,
           turbulent_prandtl = 0.9, nu_tilde = 3, k = 9e-9, omega = 1e-6;
    bool axisymmetric = false;
    std::string initial = "uniform";
    std::string start;  // a PLOT3D Q file
};

/// A frame that turns with a rotor.
struct FrameKeys {
    double rotation_rate = 0;         // radians in a unit of time
    double tip_mach = 0, radius = 0;  // the same, by the speed of a blade's tip
    std::string axis = "z";
    std::vector<double> centre{0, 0, 0};
};

struct InitialKeys {
    double strength = 1, radius = 1, place = 0.5;
    std::vector<double> centre{0, 0}, left{1, 0, 1}, right{0.125, 0, 0.1};
};

struct SchemeKeys {
    double kappa = 1.0 / 3, entropy_fix = 0;
    std::int64_t order = 2, turbulence_order = 1;
    bool low_mach = false;
    std::string limiter = "none";
};

struct TimeKeys {
    std::string kind = "steady", implicit = "lines";
    double end = 0, step = 0, cfl = 10, cfl_turbulence = 0, cfl_across = 10, cfl_start = 1, most_change = 0.2;
    std::int64_t ramp = 0, iterations = 1000, subiterations = 50;
    double residual = 0, drop = 1e-3;
    std::vector<std::int64_t> sequence;
    std::int64_t multigrid = 1;
    std::string cycle = "v";
    std::vector<std::int64_t> smooth{2, 1};
};

struct ReferenceKeys {
    double mach = 0;  // of coefficients and of flow.reynolds; 0: of the blades' tips, or the far field
    double area = 1, length = 1;
    std::vector<double> moment_centre{0, 0, 0};
};

struct OutputKeys {
    std::int64_t surface = 0, vortices = 0, plot3d = 0;
    std::vector<std::string> slices;
    std::int64_t slice_steps = 0;
    double average = -1;  // from this time on; below 0: never
    std::vector<double> probes;
    std::vector<double> stations;  // of a rotor, as shares of its radius
};

struct VerifyKeys {
    double error = 0, uniform = 0, drop = 0;
    std::vector<double> lift, drag, moment, thrust;  // least and most
};

struct Settings {
    GridKeys grid;
    std::map<std::string, MeshKeys> meshes;  // none: `grid` is the only one
    OversetKeys overset;
    FlowKeys flow;
    FrameKeys frame;
    InitialKeys initial;
    SchemeKeys numerics;
    TimeKeys time;
    ReferenceKeys reference;
    OutputKeys output;
    VerifyKeys verify;
    std::map<std::string, BoundaryKeys> boundaries;

    [[nodiscard]] Stages stages() const;
    /// How many there are, those of the sequence and of multigrid cycles.
    [[nodiscard]] int grids() const;
    [[nodiscard]] bool overlaps() const { return !meshes.empty(); }
    /// Whether a grid or a mesh does.
    [[nodiscard]] bool moves() const;
    /// Of the grid, or of all meshes. Throws Error with the key's place.
    [[nodiscard]] Motions motions(int dimensions, const graph::CaseSchema& keys) const;
    [[nodiscard]] bool steady() const { return time.kind == "steady"; }
    /// What the kernels are told.
    [[nodiscard]] Scheme scheme() const;
    /// How many states a mean after that step is made of, the last one included; 0 or less: of none.
    [[nodiscard]] std::int64_t averaged(std::int64_t step) const;
    /// Of a stage with that many iterations behind it.
    /// `cfl`: after the ramp.
    [[nodiscard]] double cfl_at(std::int64_t iteration, double cfl) const;
    /// The place of that in the graph: `strata steer` may change it while the run goes on.
    [[nodiscard]] const double* steered_cfl(graph::Graph& graph) const;
    [[nodiscard]] Reference reference_values(int dimensions) const;
    /// How fast the frame turns, in radians in a unit of time; 0: it stands still.
    [[nodiscard]] double rotation_rate() const;
    /// A rate as a vector along the frame's axis.
    [[nodiscard]] Real3 about_axis(double rate) const;
    /// Of the grid, seen at rest.
    [[nodiscard]] RigidMotion motion() const;
    /// Of a frame with a radius.
    [[nodiscard]] std::optional<Rotor> rotor() const;
    /// Of coefficients and of flow.reynolds.
    [[nodiscard]] double reference_mach() const;
    /// Of the far field, whose density and pressure are 1 and 1 / gamma.
    [[nodiscard]] Real3 velocity(int dimensions) const;
    [[nodiscard]] FlowState far_field(int dimensions) const;
};

/// The keys, bound to the settings, which must outlive them.
void declare_keys(graph::CaseSchema& keys, Settings& settings);
/// A schema with these keys alone.
[[nodiscard]] graph::CaseSchema schema(Settings& settings);

/// Of these the keys of a grid; and of a mesh, in the table [mesh.NAME].
void add_grid_keys(graph::CaseSchema& keys, GridKeys& grid);
void add_mesh_keys(graph::CaseSchema& keys, const std::string& name, MeshKeys& mesh);

/// What no key says alone. Throws Error with the key's place.
void check(const Settings& settings, const graph::CaseSchema& schema);

/// Of that the part about motion.
void check_motions(const Settings& settings, const graph::CaseSchema& schema);

}  // namespace strata::flow
