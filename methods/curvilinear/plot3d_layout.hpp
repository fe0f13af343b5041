// Where the numbers of a PLOT3D file lie.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "methods/curvilinear/plot3d.hpp"

namespace strata::flow {

/// Numbers of a text that is written: so wide, so many on a line.
struct TextField {
    std::int64_t width, on_line;
};

struct Plot3dLayout {
    Plot3dContent content = Plot3dContent::grid;
    Plot3dForm form;
    std::vector<Plot3dZone> zones;

    Plot3dLayout(Plot3dContent content, const Plot3dForm& form, std::vector<Plot3dZone> zones);

    [[nodiscard]] std::int64_t points(int zone) const {
        const auto& n = zones[static_cast<std::size_t>(zone)].points;
        return std::int64_t{n[0]} * n[1] * n[2];
    }
    [[nodiscard]] int components(int zone) const;
    [[nodiscard]] int real_bytes() const { return form.single_precision ? 4 : 8; }
    [[nodiscard]] bool swapped() const {
        return form.big_endian != (std::endian::native == std::endian::big);
    }
    /// Whole numbers before the first zone.
    [[nodiscard]] std::int64_t head_numbers() const;
    /// Numbers of a zone: conditions of Q, values, iblank.
    [[nodiscard]] std::int64_t zone_numbers(int zone) const;

    /// What a binary file consists of: a record of Fortran, or the same bytes without its lengths.
    struct Record {
        std::int64_t start, length;  // of the file, with the lengths; of what is in it
        int zone;                    // -1: head
    };
    std::vector<Record> records;
    std::int64_t bytes = 0, numbers = 0;  // of the whole file (bytes: of a binary one)

    [[nodiscard]] const Record& record_of_values(int zone) const;
    [[nodiscard]] const Record& record_of_conditions(int zone) const;
    /// Where a byte of a record is in the file.
    [[nodiscard]] std::int64_t place(const Record& record, std::int64_t byte) const;
    /// How many bytes from this one on lie side by side.
    [[nodiscard]] std::int64_t run(std::int64_t byte) const {
        return form.kind == Plot3dKind::unformatted ? form.record_part - byte % form.record_part : INT64_MAX;
    }
    /// The first number of a zone in a text.
    [[nodiscard]] std::int64_t first_number(int zone) const {
        return first_numbers_[static_cast<std::size_t>(zone)];
    }

    /// What lies at number n of a text or byte b of a binary file, for messages: "zone 2, y of node (3, 1,
    /// 4)".
    [[nodiscard]] std::string text_at_number(std::int64_t n) const;
    [[nodiscard]] std::string text_at_byte(std::int64_t b) const;

  private:
    [[nodiscard]] std::string text_of_node(int zone, std::int64_t value) const;
    void add_record(std::int64_t length, int zone);
    std::vector<std::int64_t> first_numbers_;
};

/// Which components there are, for messages.
[[nodiscard]] std::string component_text(Plot3dContent content, int component);

}  // namespace strata::flow
