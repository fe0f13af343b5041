#include "core/graph/expand/memory/stock.hpp"

#include <algorithm>
#include <utility>

namespace strata::graph {

Stock::Stock() = default;
Stock::Stock(Stock&&) noexcept = default;
Stock& Stock::operator=(Stock&& other) noexcept {
    end_all();
    chunks_ = std::move(other.chunks_), endings_ = std::move(other.endings_);
    open_ = other.open_, made_ = other.made_;
    return *this;
}
Stock::~Stock() { end_all(); }

void Stock::expect(std::size_t count, std::size_t bytes, std::size_t alignment) {
    const std::size_t all = count * ((bytes + alignment - 1) & -alignment);
    const auto fits = [&](Left of) { return of.take(bytes, alignment) != nullptr; };
    if (all > kLeast && all < kMost && std::none_of(open_.begin(), open_.end(), fits))
        static_cast<void>(begin(all + spare(alignment)));
}

std::byte* Stock::room_in_another(std::size_t bytes, std::size_t alignment) {
    // An eighth of what there is: little is left over, and there are few chunks.
    const std::size_t usual = std::clamp(made_ / 8, kLeast, kMost);
    return begin(std::max(bytes + spare(alignment), usual)).take(bytes, alignment);
}

Stock::Left& Stock::begin(std::size_t bytes) {
    made_ += bytes;
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    Left& least = *std::min_element(open_.begin(), open_.end(),
                                    [](const Left& a, const Left& b) { return a.bytes < b.bytes; });
    return least = {chunks_.back().get(), bytes};
}

void Stock::note(const Ending& ending) { endings_.push_back(ending); }

void Stock::end_all() {
    for (const Ending& each : endings_) each.end(each.at, each.count);
    endings_.clear();
}

}  // namespace strata::graph
