// PLOT3D files in every form that other programs write, made here byte by byte: each gives the same grid.
#include <fmt/format.h>

#include <map>
#include <random>

#include "tests/catch.hpp"
#include "tests/solvers/grids/flow_grids.hpp"

using namespace strata;
using namespace strata::flow;
using namespace strata::flow::tests;

namespace {

/// How a text has its numbers.
enum class Words { plain, repeats, lines, fortran };

/// What a program writes, and how.
struct Written {
    Plot3dForm form;
    Words words = Words::plain;
    bool left = false;  // the last index of each zone runs backwards
    std::vector<Int3> points;
};

std::string text_of(const Written& w) {
    return text_of(w.form) + fmt::format(", words {}, {}-handed, {} zones", static_cast<int>(w.words),
                                         w.left ? "left" : "right", w.points.size());
}

/// Node (i, j, k) of a right-handed zone. Zones stand in a row and touch from their first nodes on. Numbers
/// repeat, and are exact in single precision.
Real3 place(const Written& w, int zone, const Int3& node) {
    int before = 0;
    for (int z = 0; z < zone; ++z) before += w.points[static_cast<std::size_t>(z)][0] - 1;
    return {0.25 * (before + node[0]), 0.5 * node[1], w.form.dimensions == 3 ? 0.25 * node[2] - 3 : 0};
}
std::int32_t blank(int zone, const Int3& node) {
    return node[0] == 0 && node[1] == 1 ? 2 : (node[0] + node[1] + zone) % 5 == 4 ? 0 : 1;
}

class Made {
  public:
    explicit Made(const Written& w) : w_(w) {}

    [[nodiscard]] std::string bytes() {
        const Plot3dForm& f = w_.form;
        if (f.multi) whole(static_cast<int>(w_.points.size())), end_record();
        for (const Int3& n : w_.points)
            for (int d = 0; d < f.dimensions; ++d) whole(n[static_cast<std::size_t>(d)]);
        end_record();
        for (int z = 0; z < static_cast<int>(w_.points.size()); ++z) {
            for (std::size_t c = 0; c < static_cast<std::size_t>(f.dimensions); ++c)
                each(z, [&](const Int3& node) { real(place(w_, z, node)[c]); });
            if (f.blanks) each(z, [&](const Int3& node) { whole(blank(z, node)); });
            end_record();
        }
        return text_.empty() ? out_.bytes : text_;
    }

  private:
    template <class Put>
    void each(int zone, const Put& put) const {
        const Int3& n = w_.points[static_cast<std::size_t>(zone)];
        graph::for_each(Box{{0, 0, 0}, n}, [&](int i, int j, int k) {
            Int3 node{i, j, k};
            const auto last = static_cast<std::size_t>(w_.form.dimensions - 1);
            if (w_.left) node[last] = n[last] - 1 - node[last];
            put(node);
        });
    }
    [[nodiscard]] bool is_text() const { return w_.form.kind == Plot3dKind::formatted; }
    void whole(int value) {
        if (is_text()) return word(fmt::format("{}", value));
        record_.swap = w_.form.big_endian;
        record_.put(static_cast<std::int32_t>(value));
    }
    void real(double value) {
        if (is_text())
            return word(w_.words == Words::fortran
                            ? fmt::format("{:.8e}", value)
                            : fmt::format("{:.{}f}", value, w_.form.single_precision ? 7 : 15));
        record_.swap = w_.form.big_endian;
        w_.form.single_precision ? record_.put(static_cast<float>(value)) : record_.put(value);
    }
    void word(std::string word) {
        if (w_.words == Words::fortran)
            if (const auto e = word.find('e'); e != std::string::npos) word[e] = 'D';
        words_.push_back(std::move(word));
    }
    void end_record() {
        if (is_text()) return write_words();
        out_.swap = w_.form.big_endian, out_.marker = w_.form.marker;
        if (w_.form.kind == Plot3dKind::unformatted)
            out_.record(record_);
        else
            out_.bytes += record_.bytes;
        record_.bytes.clear();
    }
    void write_words() {
        for (std::size_t n = 0; n < words_.size();) {
            std::size_t same = 1;
            while (w_.words == Words::repeats && n + same < words_.size() && words_[n + same] == words_[n])
                ++same;
            text_ += same > 1 ? fmt::format("{}*{}", same, words_[n]) : words_[n];
            n += same;
            text_ += w_.words == Words::lines     ? "\r\n"
                     : w_.words == Words::fortran ? ", "
                     : n % 5 == 0                 ? "\n"
                                                  : "   ";
        }
        text_ += '\n';
        words_.clear();
    }

    const Written& w_;
    Binary out_, record_;
    std::string text_;
    std::vector<std::string> words_;
};

std::vector<Written> all_written() {
    std::vector<Written> all;
    for (const bool multi : {true, false})
        for (const int dimensions : {2, 3})
            for (const bool blanks : {false, true})
                for (const bool left : {false, true})
                    for (const bool single : {false, true}) {
                        Written w{
                            {Plot3dKind::formatted, false, single, multi, blanks, dimensions}, {}, left, {}};
                        for (const Words words : {Words::plain, Words::repeats, Words::lines, Words::fortran})
                            w.words = words, all.push_back(w);
                        w.words = Words::plain;
                        for (const bool big : {false, true}) {
                            w.form.big_endian = big;
                            w.form.kind = Plot3dKind::stream, w.form.marker = 4, all.push_back(w);
                            w.form.kind = Plot3dKind::unformatted, all.push_back(w);
                            w.form.marker = 8, all.push_back(w);
                        }
                    }
    return all;
}

Plot3dKnown all_known(const Plot3dForm& form) {
    return {form.kind, form.big_endian, form.single_precision, form.multi, form.blanks, form.dimensions};
}

/// Whether the file was read: as it was meant, or after its form was said.
enum class Found { by_itself, when_said };

Found check_one(const Folder& folder, const Written& w) {
    INFO(text_of(w));
    GridFiles files;
    files.grid = folder.file("grid", Made(w).bytes());
    Found found = Found::by_itself;
    const std::string refusal =
        refused_by([&] { (void)Plot3dFile(files.grid, Plot3dContent::grid); }).message;
    if (refusal != "nothing was refused") {
        REQUIRE(refusal == "the file can be read in several forms");
        found = Found::when_said;
        files.form = all_known(w.form);
    }
    const Plot3dFile file(files.grid, Plot3dContent::grid, files.form);
    REQUIRE(file.form().dimensions == w.form.dimensions);
    REQUIRE(file.form().blanks == w.form.blanks);
    REQUIRE(file.zones().size() == w.points.size());
    for (std::size_t z = 0; z < w.points.size(); ++z) REQUIRE(file.zones()[z].points == w.points[z]);

    const GridSystem grid = read_grid(files);
    CHECK(grid.turned.empty() != w.left);
    CHECK(grid.joins.size() == w.points.size() - 1);
    for (int z = 0; z < zones_of(grid); ++z) {
        const ZoneShape& shape = grid.source->zones()[static_cast<std::size_t>(z)];
        check_cells(*grid.source, z, cells_of(grid, z), true);  // right-handed
        const Box nodes = grid.source->node_box(z);
        std::vector<double> x(static_cast<std::size_t>(grid.dimensions * nodes.volume()));
        std::vector<std::int32_t> blanks(static_cast<std::size_t>(nodes.volume()));
        grid.source->nodes(z, nodes, x.data());
        grid.source->blanks(z, nodes, blanks.data());
        std::size_t n = 0;
        bool same = true;
        graph::for_each(nodes, [&](int i, int j, int k) {
            // The node of the file, which is written from the last one down where it is left-handed.
            Int3 node = given_node(shape, {i, j, k});
            const auto last = static_cast<std::size_t>(grid.dimensions - 1);
            if (w.left) node[last] = shape.cells[last] - node[last];
            const Real3 wanted = place(w, z, node);
            for (std::size_t d = 0; d < static_cast<std::size_t>(grid.dimensions); ++d)
                same = same && x[d * blanks.size() + n] == wanted[d];
            same = same && blanks[n] == (w.form.blanks ? blank(z, node) : 1);
            ++n;
        });
        CHECK(same);
    }
    return found;
}

}  // namespace

TEST_CASE("every form in which a grid is written gives the same grid") {
    const Folder folder;
    for (Written w : all_written()) {
        const int k = w.form.dimensions == 3 ? 4 : 1;
        w.points = {{7, 5, k}};
        if (w.form.multi) w.points.push_back({3, 6, w.form.dimensions == 3 ? 5 : 1});
        CHECK(check_one(folder, w) == Found::by_itself);
    }
}

TEST_CASE("every form gives the same grid, with zones of any sizes", "[.soak]") {
    const Folder folder;
    std::mt19937 random(20240607);
    const auto between = [&](int least, int most) {
        return std::uniform_int_distribution(least, most)(random);
    };
    std::map<std::string, int> said;
    int files = 0;
    for (int round = 0; round < 20; ++round)
        for (Written w : all_written()) {
            const int zones = w.form.multi ? between(1, 5) : 1;
            for (int z = 0; z < zones; ++z)
                w.points.push_back(
                    {between(2, 12), between(2, 12), w.form.dimensions == 3 ? between(2, 9) : 1});
            ++files;
            if (check_one(folder, w) == Found::when_said) ++said[text_of(w.form)];
        }
    // Sizes that fit several forms are rare.
    int all = 0;
    for (const auto& [form, times] : said) all += times;
    INFO(all << " of " << files);
    CHECK(all < files / 50);
}
