// Memory for very many small things that are made one after the other and never move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace strata::graph {

/// A cache line of private memory.
struct alignas(64) Line {
    std::byte bytes[64];
};

/// Things of all types, one behind the other.
class Stock {
  public:
    Stock() = default;
    Stock(Stock&&) noexcept = default;
    Stock& operator=(Stock&& other) noexcept {
        end_all();
        chunks_ = std::move(other.chunks_), endings_ = std::move(other.endings_);
        next_ = other.next_, left_ = other.left_, made_ = other.made_;
        return *this;
    }
    ~Stock() { end_all(); }

    /// So many, next to each other, as T{}.
    template <class T>
    std::span<T> take(std::size_t count) {
        if (count == 0) return {};
        T* const first = reinterpret_cast<T*>(room(count * sizeof(T), alignof(T)));
        std::uninitialized_value_construct_n(first, count);
        if constexpr (!std::is_trivially_destructible_v<T>)
            endings_.push_back(
                {[](void* at, std::size_t of) { std::destroy_n(static_cast<T*>(at), of); }, first, count});
        return {first, count};
    }
    template <class T>
    T& one() {
        return take<T>(1)[0];
    }
    template <class T>
    std::span<T> keep(const std::vector<T>& all) {
        const std::span<T> taken = take<T>(all.size());
        std::copy(all.begin(), all.end(), taken.begin());
        return taken;
    }
    /// Memory for anything that needs no destructor.
    std::byte* room(std::size_t bytes, std::size_t alignment) {
        const auto gap = [&] { return -reinterpret_cast<std::uintptr_t>(next_) & (alignment - 1); };
        if (left_ < bytes + gap()) {
            // An eighth of what there is: little is left over, and there are few chunks.
            left_ = std::max(bytes + alignment, std::clamp(made_ / 8, kLeast, kMost));
            made_ += left_;
            chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(left_));
            next_ = chunks_.back().get();
        }
        std::byte* const taken = next_ + gap();
        left_ -= bytes + gap();
        next_ = taken + bytes;
        return taken;
    }

  private:
    static constexpr std::size_t kLeast = 480, kMost = std::size_t{1} << 18;
    struct Ending {
        void (*end)(void* at, std::size_t count);
        void* at;
        std::size_t count;
    };
    void end_all() {
        for (const Ending& each : endings_) each.end(each.at, each.count);
        endings_.clear();
    }
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::vector<Ending> endings_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0, made_ = 0;
};

}  // namespace strata::graph
