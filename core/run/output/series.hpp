// Numbers over time: one row a step, as a CSV file that is whole at every moment.
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
/// of the file: a run that is killed leaves complete rows and, where a row crosses two pages of the file, at
/// most one that is cut off behind them, which the next run removes. Numbers read back to the same bits.
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

    /// A new file; refuses one that is there, since it is another run's. With `after_step` (a restart), goes
    /// on with the file that is there: rows of later steps, and a last one that was cut off, are removed.
    /// Throws Error where the file cannot be written, has other columns, or is no such file.
    Series(std::filesystem::path file, std::string time_unit, std::vector<Column> columns,
           std::optional<std::int64_t> after_step = std::nullopt);
    ~Series();
    Series(const Series&) = delete;
    Series& operator=(const Series&) = delete;

    /// Throws Error where the disk is full (what was written of the row is taken away again), where there are
    /// not as many values as columns, or where the step is not after the last row's.
    void append(std::int64_t step, double time, std::span<const double> values);

    [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
    /// The last rows, the latest last; at most `kRemembered`, those before a restart included.
    [[nodiscard]] std::vector<Row> last(std::size_t count) const;
    static constexpr std::size_t kRemembered = 1000;

  private:
    [[nodiscard]] std::string header() const;
    void go_on_after(std::int64_t step);

    std::filesystem::path path_;
    std::string time_unit_;
    std::vector<Column> columns_;
    std::deque<Row> rows_;
    int file_ = -1;
};

}  // namespace strata::graph
