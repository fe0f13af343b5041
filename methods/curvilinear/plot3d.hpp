// PLOT3D files (Walatka, Buning, Pierce, Elson, PLOT3D User's Manual, NASA TM 101067, 1990, chapter 8): grids
// with or without iblank, Q files and function files, read and written in boxes. Zones are whole, not plane
// by plane.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::flow {

enum class Plot3dContent { grid, q, function };
/// Text; Fortran's sequential records with their lengths before and after; the same without these lengths.
enum class Plot3dKind { formatted, unformatted, stream };

/// How a file is laid out.
struct Plot3dForm {
    Plot3dKind kind = Plot3dKind::unformatted;
    bool big_endian = false, single_precision = false;
    bool multi = true;    // the number of zones comes first
    bool blanks = false;  // iblank after the coordinates
    int dimensions = 3;
    /// Longer records are written in parts of this many bytes, as gfortran and ifort do.
    std::int64_t record_part = 2147483639;
    /// Of unformatted files: bytes of a record's length, 4 or 8 (gfortran -frecord-marker=8; these have no
    /// parts).
    int marker = 4;
    friend bool operator==(const Plot3dForm&, const Plot3dForm&) = default;
};
[[nodiscard]] std::string text_of(const Plot3dForm& form);

/// What is known of a form before the file is looked at.
struct Plot3dKnown {
    std::optional<Plot3dKind> kind;
    std::optional<bool> big_endian, single_precision, multi, blanks;
    std::optional<int> dimensions;
};
/// From words of a case, such as "unformatted big-endian double": formatted, unformatted, stream; big-endian,
/// little-endian; single, double; multi-zone, single-zone; iblank, no-iblank; 2d, 3d. Throws Error for
/// another word.
[[nodiscard]] Plot3dKnown known_form(const std::string& words);

/// A zone of a file: nodes, and values at each (functions only; else 2 or 3 coordinates, 4 or 5 of Q).
struct Plot3dZone {
    graph::Int3 points{1, 1, 1};
    int variables = 0;
};

/// A file that is there. Any number of threads may ask; a text is gone through once, at first, and read from
/// the nearest of many places that were noted then.
class Plot3dFile {
  public:
    /// Throws Error where no form, or several that are known no better, fit the file: with the sizes.
    Plot3dFile(const std::filesystem::path& path, Plot3dContent content, const Plot3dKnown& known = {});
    ~Plot3dFile();
    Plot3dFile(Plot3dFile&&) noexcept;
    Plot3dFile& operator=(Plot3dFile&&) noexcept;

    [[nodiscard]] const Plot3dForm& form() const;
    [[nodiscard]] const std::vector<Plot3dZone>& zones() const;
    [[nodiscard]] const std::string& name() const;
    /// One component of a box of nodes, i fastest. Throws Error with zone and indices.
    void values(int zone, int component, const graph::Box& nodes, double* to) const;
    void blanks(int zone, const graph::Box& nodes, std::int32_t* to) const;
    /// Of Q: Mach number, angle of attack, Reynolds number, time.
    [[nodiscard]] std::array<double, 4> conditions(int zone) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// A file that is made. One process calls create(), then any number of them put boxes to their places:
/// numbers of a text have a fixed width. Lengths of records have 4 bytes.
class Plot3dWriter {
  public:
    Plot3dWriter(std::filesystem::path path, Plot3dContent content, const Plot3dForm& form,
                 std::vector<Plot3dZone> zones);
    /// Makes the file with all its room; `conditions` of each zone for Q. What is not put is 0 (iblank too).
    void create(const std::vector<std::array<double, 4>>& conditions = {}) const;
    void values(int zone, int component, const graph::Box& nodes, const double* from) const;
    void blanks(int zone, const graph::Box& nodes, const std::int32_t* from) const;

  private:
    struct Place;
    std::filesystem::path path_;
    Plot3dContent content_;
    Plot3dForm form_;
    std::vector<Plot3dZone> zones_;
};

}  // namespace strata::flow
