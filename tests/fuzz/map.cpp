// Neutral map files, read for a grid of two zones; the first byte says of how many dimensions.
#include "methods/curvilinear/map_file.hpp"

#include "methods/curvilinear/join.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace strata::flow;

namespace {

/// Two blocks side by side along i.
class TwoBlocks final : public GridSource {
  public:
    explicit TwoBlocks(int dimensions) : dimensions_(dimensions), zones_(2) {
        zones_[0].cells = {4, 2, dimensions == 3 ? 3 : 1};
        zones_[1].cells = {3, 2, dimensions == 3 ? 3 : 1};
        zones_[1].origin = 1;
        zones_[1].first[1] = 2, zones_[1].step[1] = -1;  // a zone that was turned
    }
    [[nodiscard]] std::span<const ZoneShape> zones() const override { return zones_; }
    [[nodiscard]] int dimensions() const override { return dimensions_; }
    void nodes(int zone, const Box& nodes, double* x) const override {
        const std::int64_t count = nodes.volume();
        std::int64_t n = 0;
        strata::graph::for_each(nodes, [&](int i, int j, int k) {
            const double at[3] = {i + (zone == 1 ? 4.0 : 0.0), 1.0 * j, 1.0 * k};
            for (int d = 0; d < dimensions_; ++d) x[d * count + n] = at[d];
            ++n;
        });
    }

  private:
    int dimensions_;
    std::vector<ZoneShape> zones_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const strata::fuzz::InputFile file;
    const int dimensions = 2 + data[0] % 2;
    strata::fuzz::reads(data + 1, size - 1, [&](std::string_view text) {
        GridSystem system{std::make_shared<TwoBlocks>(dimensions), {}, {}, dimensions, {}};
        read_map(file.holding(text), system);
        (void)map_text(system);
        check_joins(system);
        check_connected(system);
        (void)cut(system);
    });
    return 0;
}
