// Time series: one row a step, in a CSV file that is complete at every moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::graph {

/// Appends rows of named scalars to a file `step,time [s],energy [J],...`. Each row is one write at the end
/// of the file, so a killed run leaves complete rows. Only a row that crosses two pages of the file may be
/// cut off; the next run removes it. Numbers read back to the same bits.
class Series {
  public:
    struct Column {
        std::string name, unit;  // unit: "" for a pure number
        friend bool operator==(const Column&, const Column&) = default;
    };
    struct Row {
        std::int64_t step = 0;
        double time = 0;
        std::vector<double> values;  // one for each column
    };

    /// A new file; throws Error where the file exists, since it is another run's. With `after_step` (a
    /// restart), goes on with the existing file: rows of later steps, and a last one that was cut off, are
    /// removed. Throws Error where the file cannot be written, has other columns, or is not a time series.
    Series(std::filesystem::path file, std::string time_unit, std::vector<Column> columns,
           std::optional<std::int64_t> after_step = std::nullopt);
    ~Series();
    Series(const Series&) = delete;
    Series& operator=(const Series&) = delete;

    /// Throws Error where the disk is full (a partly written row is removed), where the number of values is
    /// not that of columns, or where the step is not after the last row's.
    void append(std::int64_t step, double time, std::span<const double> values);

    [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
    /// The last rows, the latest last; at most `kRemembered`, those before a restart included.
    [[nodiscard]] std::vector<Row> last(std::size_t count) const;
    static constexpr std::size_t kRemembered = 1000;
    /// The first value of a row, those before a restart included, that is no number (NaN, infinity).
    struct NoNumber {
        std::int64_t step = 0;
        std::string column;
        double value = 0;
    };
    [[nodiscard]] const std::optional<NoNumber>& no_number() const { return no_number_; }
    /// The whole rows of steps from `first` to `last`, as far as the file has been written; none where it is
    /// not there. Throws Error where it has other columns, or a line up to `last` is no row.
    [[nodiscard]] static std::vector<Row> read(const std::filesystem::path& file,
                                               const std::string& time_unit,
                                               const std::vector<Column>& columns, std::int64_t first,
                                               std::int64_t last);
    /// The last step of a file; -1 where it has none.
    [[nodiscard]] static std::int64_t last_step(const std::filesystem::path& file);

  private:
    void go_on_after(std::int64_t step);
    void keep(Row row);

    std::filesystem::path path_;
    std::string time_unit_;
    std::vector<Column> columns_;
    std::deque<Row> rows_;
    std::optional<NoNumber> no_number_;
    int file_ = -1;
};

}  // namespace strata::graph
