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

/// An array in a file, of f64, f32, i64, i32 or u8.
struct FieldArray {
    std::string name;
    Element element = Element::f64;
    int components = 1;
    std::string unit;   // written as the attribute "Unit"
    On on = On::cells;  // cells or nodes (points); of images also all the faces of one direction
};

/// The size of a data set of lists: points, cells, and entries of the cells' connectivity.
struct FieldCounts {
    std::int64_t points = 0, cells = 0, ids = 0;
};

/// A block of curvilinear cells.
struct FileBlock {
    std::string name;  // no '/' or '.'
    Box cells, nodes;  // the indices; nodes of a flat block have one layer in z
    /// The first must be "Points", the places of nodes, of f64 or f32 with three components.
    std::vector<FieldArray> arrays;
};

/// Whether this build can write field files: it needs HDF5.
[[nodiscard]] bool can_write_fields();

/// One file of one step. HDF5 makes its layout. Then every process writes its values directly to their
/// places, all at the same time and without HDF5. (Processes of several nodes: one node after the other,
/// since network file systems cache whole pages, and two nodes may write to one page.)
///   1. one process calls create_grid, create_particles or another create
///   2. each opens it with FieldFile(path), writes its values, and calls close()
///   3. one calls finish(): only now does the file have its name
/// Any failure throws Error with the file; then one process calls abandon().
class FieldFile {
  public:
    /// An image of the grid's whole domain (vtkImageData). Cells of the domain that no patch writes stay 0.
    ///
    /// For arrays on the faces of one direction, the cells of the image are centred on these faces, half a
    /// cell to either side: n + 1 of them along that direction, n along the others. (With faces as points,
    /// planes would be flat images, for which VTK expects arrays of two dimensions.)
    static void create_grid(const std::filesystem::path& path, const GridShape& shape,
                            const std::vector<FieldArray>& arrays, double time);
    /// `count` points (vtkPolyData), one for each particle of all patches. The first array must be "Points",
    /// the positions, of f64 or f32 with three components.
    static void create_particles(const std::filesystem::path& path, std::int64_t count,
                                 const std::vector<FieldArray>& arrays, double time);
    /// Blocks of curvilinear cells (vtkMultiBlockDataSet of vtkStructuredGrid). The arrays of a block are
    /// "NAME/Points", "NAME/CellData/..." and "NAME/PointData/..."; frame() comes before write().
    static void create_blocks(const std::filesystem::path& path, const std::vector<FileBlock>& blocks,
                              double time);
    /// Cells of any types (vtkUnstructuredGrid). The first array must be "Points", as of particles. Others
    /// are "PointData/..." and "CellData/...". To be written besides: "Connectivity" (ids), "Offsets" (one
    /// more than cells) and "Types" (u8).
    static void create_cells(const std::filesystem::path& path, const FieldCounts& counts,
                             const std::vector<FieldArray>& arrays, double time);
    /// Cells of one kind on points (vtkPolyData): "Vertices", "Lines" or "Polygons". As create_cells, but
    /// the lists are "KIND/Connectivity" and "KIND/Offsets", and there are no types.
    static void create_poly_data(const std::filesystem::path& path, const std::string& kind,
                                 const FieldCounts& counts, const std::vector<FieldArray>& arrays,
                                 double time);
    /// Columns of equal length (vtkTable), called "RowData/...".
    static void create_table(const std::filesystem::path& path, std::int64_t rows,
                             const std::vector<FieldArray>& arrays, double time);
    /// Renames the file to `path`. Adds it to the list `series` (ParaView's .vtkhdf.series), if that is not
    /// empty, and removes later times from the list.
    static void finish(const std::filesystem::path& path, const std::filesystem::path& series, double time);
    static void abandon(const std::filesystem::path& path) noexcept;
    /// Removes half-written files of killed runs from a folder.
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
    /// Writes boxes of the same extent in y and z. Boxes side by side in x are written with joined rows.
    void write(const std::string& array, std::span<const Part> parts);
    /// The values of `count` particles from the `from`-th on; components lie `component` values apart.
    void write(const std::string& array, std::int64_t from, std::int64_t count, const void* values,
               std::ptrdiff_t component = 0);
    /// Says which indices the values of a block's array have, for the parts that are written.
    void frame(const std::string& array, const Box& indices, int components);
    /// Writes the integers 0, step, 2 step and so on to an array of i64.
    void write_multiples(const std::string& array, std::int64_t count, std::int64_t step);
    /// Throws Error where the system has not taken the written values. The destructor closes without errors.
    void close();

  private:
    struct Open;
    std::unique_ptr<Open> open_;
};

/// Removes the steps after `time` from the list (.vtkhdf.series), for a run that goes back. Does nothing
/// where there is no list.
void forget_later_fields(const std::filesystem::path& series, double time);
/// The names of the files in a list; none where there is no list.
[[nodiscard]] std::vector<std::string> listed_fields(const std::filesystem::path& series);

/// The first array and value in which two field files differ, "" where they do not: "'temperature', value 17:
/// 1.5 and 1.25". Arrays that only one of them has are not compared. Throws Error where one cannot be read.
[[nodiscard]] std::string fields_difference(const std::filesystem::path& one,
                                            const std::filesystem::path& other);

}  // namespace strata::graph
