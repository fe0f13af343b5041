// Memory for very many small things that are made one after the other and never move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace strata::graph {

/// A cache line of private memory.
struct alignas(64) Line {
    std::byte bytes[64];
};

template <class T>
class Stock {
  public:
    /// So many, next to each other, as T{}.
    std::span<T> take(std::size_t count) {
        if (count == 0) return {};
        if (left_ < count) {
            // A quarter of what there is: little is left over, and there are few chunks.
            left_ = std::max(count, std::min(kChunk, made_ / 4 + 1));
            made_ += left_;
            chunks_.push_back(std::make_unique<T[]>(left_));
            next_ = chunks_.back().get();
        }
        const std::span<T> taken(next_, count);
        next_ += count, left_ -= count;
        return taken;
    }
    /// Makes room for so many, of which none is left over if they are taken.
    void reserve(std::size_t count) {
        if (left_ >= count) return;
        left_ = count;
        made_ += count;
        chunks_.push_back(std::make_unique<T[]>(count));
        next_ = chunks_.back().get();
    }
    T& one() { return take(1)[0]; }
    std::span<T> keep(const std::vector<T>& all) {
        const std::span<T> taken = take(all.size());
        std::copy(all.begin(), all.end(), taken.begin());
        return taken;
    }

  private:
    static constexpr std::size_t kChunk = 1 + (std::size_t{1} << 18) / sizeof(T);
    std::vector<std::unique_ptr<T[]>> chunks_;
    T* next_ = nullptr;
    std::size_t left_ = 0, made_ = 0;
};

}  // namespace strata::graph
