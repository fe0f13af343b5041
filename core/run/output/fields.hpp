// Fields and particles as files that ParaView and PyVista open: Kitware's VTKHDF
// (https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format/), one file a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/declare/family.hpp"
#include "core/graph/declare/label.hpp"

namespace strata::graph {

/// What a file holds: an array of f64, f32, i64, i32 or u8.
struct FieldArray {
    std::string name;
    Element element = Element::f64;
    int components = 1;
    std::string unit;   // kept beside it, as the attribute "Unit"
    On on = On::cells;  // fields: cells or nodes, or all the faces of one direction
};

/// Whether this build can write them: it was made with HDF5.
[[nodiscard]] bool can_write_fields();

/// One file of one step. HDF5 lays it out; then every process writes what it has straight to its place, all
/// at the same time and without HDF5 (processes of several nodes: one node after the other, since network
/// file systems keep pages, not bytes):
///   1. one calls create_grid or create_particles
///   2. each opens it with FieldFile(path), writes what it has, and close()s it
///   3. one calls finish(): only now does the file have its name
/// Whatever fails throws Error with the file; then one calls abandon().
class FieldFile {
  public:
    /// An image of the grid's whole domain (vtkImageData). Cells of the domain that no patch writes stay 0.
    /// Where all arrays lie on the faces of one direction, the cells of the image are those around these
    /// faces, half a cell to either side: n + 1 of them along that direction, n along the others. (With the
    /// faces as points, planes would be flat images, of which VTK expects arrays of two dimensions.)
    static void create_grid(const std::filesystem::path& path, const GridShape& shape,
                            const std::vector<FieldArray>& arrays, double time);
    /// `count` points (vtkPolyData), one for each particle of all patches; positions are the array "Points",
    /// of f64 or f32 with three components, which must be the first.
    static void create_particles(const std::filesystem::path& path, std::int64_t count,
                                 const std::vector<FieldArray>& arrays, double time);
    /// Renames it to `path`. Adds it to the list `series` (ParaView's .vtkhdf.series), in which later times
    /// are replaced, when that is not empty.
    static void finish(const std::filesystem::path& path, const std::filesystem::path& series, double time);
    static void abandon(const std::filesystem::path& path) noexcept;
    /// Removes from a folder what runs that were killed have left half-written.
    static void sweep(const std::filesystem::path& folder) noexcept;

    explicit FieldFile(const std::filesystem::path& path);
    ~FieldFile();
    FieldFile(const FieldFile&) = delete;
    FieldFile& operator=(const FieldFile&) = delete;

    /// Values of a grid's array in a box of the grid's indices (cells or nodes). `first` is the first
    /// component at box.lo; rows in x lie one after the other; `y`, `z` and `component` are the strides in
    /// values.
    struct Part {
        Box box;
        const void* first;
        std::ptrdiff_t y, z, component;
    };
    /// Boxes of the same extent in y and z; where they lie side by side in x their rows go in one write.
    void write(const std::string& array, std::span<const Part> parts);
    /// The values of `count` particles from the `from`-th on; components lie `component` values apart.
    void write(const std::string& array, std::int64_t from, std::int64_t count, const void* values,
               std::ptrdiff_t component = 0);
    /// Throws where the system has not taken what was written. The destructor closes in silence.
    void close();

  private:
    struct Open;
    std::unique_ptr<Open> open_;
};

/// The list of steps (.vtkhdf.series) without those after `time`: for a run that goes back. Nothing where
/// there is none.
void forget_later_fields(const std::filesystem::path& series, double time);

}  // namespace strata::graph
