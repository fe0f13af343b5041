#include "core/run/output/series.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/figures.hpp"
#include "core/base/text.hpp"

namespace strata::graph {

namespace {

/// Quoted as in RFC 4180: names may contain commas.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string titled(const std::string& name, const std::string& unit) {
    return field(unit.empty() ? name : fmt::format("{} [{}]", name, unit));
}

/// Parses a complete row of `columns` values; none where the line is not one.
std::optional<Series::Row> parse(std::string_view line, std::size_t columns) {
    const auto step = take_number<std::int64_t>(line);
    if (!step) return std::nullopt;
    Series::Row row{*step, 0, {}};
    for (std::size_t i = 0; i < columns + 1; ++i) {
        if (!take(line, ",")) return std::nullopt;
        const auto value = take_number<double>(line, {.beyond = NumberForm::Beyond::zero});
        if (!value) return std::nullopt;
        if (i == 0)
            row.time = *value;
        else
            row.values.push_back(*value);
    }
    if (!line.empty()) return std::nullopt;
    return row;
}

std::string header(const std::string& time_unit, const std::vector<Series::Column>& columns) {
    std::string line = fmt::format("step,{}", titled("time", time_unit));
    for (const Series::Column& column : columns) line.append(",").append(titled(column.name, column.unit));
    return line + "\n";
}

void expect_header(const std::string& line, const std::string& expected, const std::filesystem::path& file) {
    if (line + "\n" == expected) return;
    throw Error("the time series has other columns than this run")
        .at(file.string(), 1)
        .given(line)
        .allowed(expected.substr(0, expected.size() - 1));
}

Series::Row row_of(const std::string& line, std::size_t columns, const std::filesystem::path& file,
                   int number) {
    std::optional<Series::Row> row = parse(line, columns);
    if (!row)
        throw Error("this is not a row of the time series")
            .at(file.string(), number)
            .given(line)
            .allowed(fmt::format("a step, a time and {} numbers", columns))
            .remedy("remove the line, if the rows around it are right");
    return std::move(*row);
}

}  // namespace

std::vector<Series::Row> Series::read(const std::filesystem::path& file, const std::string& time_unit,
                                      const std::vector<Column>& columns, std::int64_t first,
                                      std::int64_t last) {
    std::vector<Row> rows;
    std::ifstream in(file, std::ios::binary);
    std::string line;
    if (!std::getline(in, line) || in.eof()) return rows;  // not there, or being written
    expect_header(line, header(time_unit, columns), file);
    for (int number = 2; std::getline(in, line) && !in.eof(); ++number) {  // no line end: being written
        const Row row = row_of(line, columns.size(), file, number);
        if (row.step > last) break;
        if (row.step >= first) rows.push_back(row);
    }
    return rows;
}

std::int64_t Series::last_step(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::int64_t last = -1;
    for (std::string line; std::getline(in, line) && !in.eof();) {
        std::string_view row = line;
        last = take_number<std::int64_t>(row).value_or(last);  // not of the header
    }
    return last;
}

Series::Series(std::filesystem::path file, std::string time_unit, std::vector<Column> columns,
               std::optional<std::int64_t> after_step)
    : path_(std::move(file)), time_unit_(std::move(time_unit)), columns_(std::move(columns)) {
    const bool there = std::filesystem::exists(path_);
    if (there && !after_step)
        throw Error("there is a time series already")
            .at(path_.string())
            .remedy("choose another folder, or restart");
    if (there) go_on_after(*after_step);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) throw system_error("the time series cannot be written", errno).at(path_.string());
    const std::string first = header(time_unit_, columns_);
    if (!there && ::write(file_, first.data(), first.size()) != static_cast<ssize_t>(first.size())) {
        const int error_number = errno;
        ::close(file_);
        ::unlink(path_.c_str());
        throw system_error("the time series cannot be written", error_number).at(path_.string());
    }
}

Series::~Series() {
    if (file_ >= 0) ::close(file_);
}

void Series::go_on_after(std::int64_t step) {
    std::ifstream in(path_, std::ios::binary);
    std::string line;
    std::uintmax_t good = 0;
    const std::string expected = header(time_unit_, columns_);
    if (!std::getline(in, line) || in.eof()) line += "...";  // cut off
    expect_header(line, expected, path_);
    good = expected.size();
    for (int number = 2; std::getline(in, line); ++number) {
        if (in.eof()) break;  // no line end: the row was cut off
        const Row row = row_of(line, columns_.size(), path_, number);
        if (row.step > step) break;
        good += line.size() + 1;
        keep(row);
    }
    in.close();
    std::filesystem::resize_file(path_, good);
}

void Series::append(std::int64_t step, double time, std::span<const double> values) {
    if (values.size() != columns_.size())
        throw Error("a row of the time series has as many values as there are columns", kFailure)
            .at(path_.string())
            .given(fmt::format("{} values", values.size()))
            .allowed(fmt::format("{}", columns_.size()));
    if (!rows_.empty() && step <= rows_.back().step)
        throw Error("rows of the time series follow each other", kFailure)
            .at(path_.string())
            .given(fmt::format("step {}", step))
            .allowed(fmt::format("above {}", rows_.back().step));
    std::string line = fmt::format("{},{}", step, time);
    for (const double value : values) line += fmt::format(",{}", without_nan_sign(value));
    line += '\n';
    struct stat before {};
    (void)::fstat(file_, &before);
    ssize_t written = 0;
    do written = ::write(file_, line.data(), line.size());
    while (written < 0 && errno == EINTR);
    if (written != static_cast<ssize_t>(line.size())) {
        const int error_number = written < 0 ? errno : ENOSPC;
        (void)!::ftruncate(file_, before.st_size);
        throw system_error("the time series cannot be written", error_number).at(path_.string());
    }
    keep({step, time, {values.begin(), values.end()}});
}

void Series::keep(Row row) {
    for (std::size_t i = 0; i < row.values.size() && !no_number_; ++i)
        if (!std::isfinite(row.values[i])) no_number_ = {row.step, columns_[i].name, row.values[i]};
    rows_.push_back(std::move(row));
    if (rows_.size() > kRemembered) rows_.pop_front();
}

std::vector<Series::Row> Series::last(std::size_t count) const {
    const std::size_t first = rows_.size() - std::min(count, rows_.size());
    return {rows_.begin() + static_cast<std::ptrdiff_t>(first), rows_.end()};
}

}  // namespace strata::graph
