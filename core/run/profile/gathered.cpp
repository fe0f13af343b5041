// Counts of all members of a team.
#include <limits>
#include <sstream>

#include "core/run/profile/counting.hpp"
#include "core/team/team.hpp"
#include "core/team/text_from.hpp"

namespace strata::graph {

namespace {

void write(std::ostream& out, const std::vector<double>& values) {
    out << values.size();
    for (const double value : values) out << ' ' << value;
    out << '\n';
}

std::vector<double> read_values(std::istream& in) {
    std::size_t count = 0;
    in >> count;
    std::vector<double> values(count);
    for (double& value : values) in >> value;
    return values;
}

/// Each name is a line: names may contain blanks, but no line ends.
std::string read_line(std::istream& in) {
    std::string line;
    std::getline(in >> std::ws, line);
    return line;
}

std::string text_of(const Counts& counts) {
    std::ostringstream out;
    out.precision(std::numeric_limits<double>::max_digits10);
    if (counts.mode.empty()) return "";
    out << counts.mode << '\n' << counts.from << '\n' << counts.events.size() << '\n';
    for (const std::string& event : counts.events) out << event << '\n';
    out << counts.rows.size() << '\n';
    for (const Counts::Row& row : counts.rows) {
        out << row.name << '\n' << static_cast<int>(row.kind) << ' ' << row.calls << ' ' << row.values << ' ';
        write(out, row.events);
    }
    write(out, counts.runtime);
    return out.str();
}

Counts counts_of(const std::string& text) {
    Counts counts;
    if (text.empty()) return counts;
    std::istringstream in(text);
    counts.mode = read_line(in);
    counts.from = read_line(in);
    std::size_t size = 0;
    in >> size;
    for (std::size_t e = 0; e < size; ++e) counts.events.push_back(read_line(in));
    in >> size;
    for (std::size_t r = 0; r < size; ++r) {
        Counts::Row row;
        row.name = read_line(in);
        int kind = 0;
        in >> kind >> row.calls >> row.values;
        row.kind = static_cast<OpKind>(kind);
        row.events = read_values(in);
        counts.rows.push_back(std::move(row));
    }
    counts.runtime = read_values(in);
    return counts;
}

}  // namespace

Counts gather_counts(const Counts& mine, team::Team& team) {
    const std::string text = text_of(mine);
    Counts all;
    for (int rank = 0; rank < team.size(); ++rank) all.merge(counts_of(team::text_from(team, rank, text)));
    return all;
}

}  // namespace strata::graph
