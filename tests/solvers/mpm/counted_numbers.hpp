// Numbers that know how they came about, so that a kernel's own source, compiled with them, says what it did.
//
// One operation is an addition, subtraction, multiplication, division, square root or comparison; a change of
// sign, a choice, rounding to an integer and what is done to bits is none. Counted are
//   executed: all of these, in all lanes, whether of use or not;
//   needed: those that something stored (an array, a sum, a branch) depends on, each once: the same operation
//     on the same numbers in four lanes is one, and nothing is added to, or multiplied by, what is no number
//     yet: the zero with which a sum begins, a lane without a particle or a component.
// A number that was read is another one each time, whatever its value.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace strata::particles {

/// What one thread has done since it was asked last. Operation 0 is that of nothing.
class Operations {
  public:
    enum Kind : std::uint8_t { value, plus, minus, times, over, square_root, compared, free };
    struct Totals {
        long long needed = 0, executed = 0;
    };

    static Operations& mine() {
        static thread_local Operations all;
        return all;
    }

    std::uint32_t read() { return add({}); }
    void execute(long long n) { totals_.executed += n; }
    std::uint32_t of(Kind kind, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
                     std::uint8_t which = 0) {
        if ((kind == plus || kind == times) && a > b) std::swap(a, b);
        const Op op{kind, which, false, {a, b, c}};
        const std::size_t place = place_of(op);
        if (table_[place] != 0) return table_[place];
        table_[place] = add(op);
        const std::uint32_t id = table_[place];
        if (2 * ops_.size() > table_.size()) enlarge();
        return id;
    }
    [[nodiscard]] bool is_value(std::uint32_t id) const { return ops_[id].kind == value; }
    void need(std::uint32_t id) { ops_[id].needed = true; }

    /// Adds up, and forgets how numbers came about: none may be alive.
    const Totals& settle() {
        for (std::size_t i = ops_.size(); i-- > 1;) {
            const Op& op = ops_[i];
            if (!op.needed) continue;
            if (op.kind != value && op.kind != free) ++totals_.needed;
            for (const std::uint32_t from : op.of) ops_[from].needed = true;
        }
        ops_.assign(1, {});
        table_.assign(kSmallest, 0);
        return totals_;
    }

  private:
    struct Op {
        Kind kind = value;
        std::uint8_t which = 0;
        bool needed = false;
        std::array<std::uint32_t, 3> of{};
    };
    static constexpr std::size_t kSmallest = 1024;

    std::uint32_t add(const Op& op) {
        ops_.push_back(op);
        return static_cast<std::uint32_t>(ops_.size() - 1);
    }

    /// Where the table has this operation, or has room for it: the first such place from that of its hash.
    [[nodiscard]] std::size_t place_of(const Op& op) const {
        std::size_t h = op.kind + 8U * op.which;
        for (const std::uint32_t x : op.of) h = (h ^ x) * 0x9e3779b97f4a7c15U, h ^= h >> 29;
        for (;; ++h) {
            const std::size_t place = h & (table_.size() - 1);
            const Op& there = ops_[table_[place]];
            if (table_[place] == 0 || (there.kind == op.kind && there.which == op.which && there.of == op.of))
                return place;
        }
    }
    void enlarge() {
        table_.assign(2 * table_.size(), 0);
        for (std::uint32_t id = 1; id < ops_.size(); ++id)
            if (ops_[id].kind != value) table_[place_of(ops_[id])] = id;
    }

    std::vector<Op> ops_{1};
    /// Hashed by operation: which one it is in ops_, 0 for none. A power of two, at most half of it taken.
    /// std::unordered_map takes several times as long.
    std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(kSmallest, 0);
    Totals totals_;
};

/// A number and its operation. The integer 0 is nothing.
class Real {
  public:
    Real() = default;
    Real(double x) : value_(x), from_(Operations::mine().read()) {}
    template <std::integral I>
    Real(I x) : value_(static_cast<double>(x)), from_(x == 0 ? 0 : Operations::mine().read()) {}
    Real(double x, std::uint32_t from) : value_(x), from_(from) {}

    [[nodiscard]] double value() const { return value_; }
    [[nodiscard]] std::uint32_t from() const { return from_; }

    /// Kept elsewhere as a plain number: it was of use.
    template <std::same_as<double> T>
    operator T() const {
        Operations::mine().need(from_);
        return value_;
    }
    explicit operator std::int32_t() const { return static_cast<std::int32_t>(double(*this)); }

    // What is done to one lane; who calls says how many were done.
    static Real plus(const Real& a, const Real& b) {
        if (a.from_ == 0 || b.from_ == 0) return {a.value_ + b.value_, a.from_ + b.from_};
        return {a.value_ + b.value_, Operations::mine().of(Operations::plus, a.from_, b.from_)};
    }
    static Real minus(const Real& a, const Real& b) {
        if (b.from_ == 0) return {a.value_ - b.value_, a.from_};
        if (a.from_ == 0) return negative(b);
        return {a.value_ - b.value_, Operations::mine().of(Operations::minus, a.from_, b.from_)};
    }
    static Real times(const Real& a, const Real& b) {
        if (a.from_ == 0 || b.from_ == 0) return {a.value_ * b.value_, 0};
        return {a.value_ * b.value_, Operations::mine().of(Operations::times, a.from_, b.from_)};
    }
    static Real over(const Real& a, const Real& b) {
        if (a.from_ == 0) return {a.value_ / b.value_, 0};
        return {a.value_ / b.value_, Operations::mine().of(Operations::over, a.from_, b.from_)};
    }
    static Real square_root(const Real& a) { return one(Operations::square_root, a, std::sqrt(a.value_)); }
    static Real negative(const Real& a) { return free(a, -a.value_, 1); }
    /// What counts as nothing; `which` tells apart several of the same number.
    static Real free(const Real& a, double x, std::uint8_t which) {
        return {x, a.from_ == 0 ? 0 : Operations::mine().of(Operations::free, a.from_, 0, 0, which)};
    }
    /// 0 where the outcome is known beforehand: nothing, beside a number that was read.
    static std::uint32_t compare(const Real& a, const Real& b, std::uint8_t which) {
        Operations& all = Operations::mine();
        const bool known = (a.from_ == 0 || b.from_ == 0) && all.is_value(a.from_) && all.is_value(b.from_);
        return known ? 0 : all.of(Operations::compared, a.from_, b.from_, 0, which);
    }

  private:
    static Real one(Operations::Kind kind, const Real& a, double x) {
        return {x, a.from_ == 0 ? 0 : Operations::mine().of(kind, a.from_)};
    }
    double value_ = 0;
    std::uint32_t from_ = 0;
};

template <class T>
concept Plain = std::is_arithmetic_v<T>;

#define STRATA_COUNTED(sign, name)                            \
    inline Real operator sign(const Real& a, const Real& b) { \
        Operations::mine().execute(1);                        \
        return Real::name(a, b);                              \
    }                                                         \
    template <Plain T>                                        \
    inline Real operator sign(const Real& a, T b) {           \
        return a sign Real(b);                                \
    }                                                         \
    template <Plain T>                                        \
    inline Real operator sign(T a, const Real& b) {           \
        return Real(a) sign b;                                \
    }                                                         \
    template <class T>                                        \
    inline Real& operator sign##=(Real& a, const T& b) {      \
        return a = a sign b;                                  \
    }                                                         \
    inline double& operator sign##=(double& a, const Real& b) { return a = a sign b; }
STRATA_COUNTED(+, plus)
STRATA_COUNTED(-, minus)
STRATA_COUNTED(*, times)
STRATA_COUNTED(/, over)
#undef STRATA_COUNTED

inline Real operator-(const Real& a) { return Real::negative(a); }
inline Real floor(const Real& a) { return Real::free(a, std::floor(a.value()), 2); }
inline Real sqrt(const Real& a) {
    Operations::mine().execute(1);
    return Real::square_root(a);
}

#define STRATA_COMPARED(sign, which)                          \
    inline bool operator sign(const Real& a, const Real& b) { \
        Operations::mine().execute(1);                        \
        Operations::mine().need(Real::compare(a, b, which));  \
        return a.value() sign b.value();                      \
    }                                                         \
    template <Plain T>                                        \
    inline bool operator sign(const Real& a, T b) {           \
        return a sign Real(static_cast<double>(b));           \
    }
STRATA_COMPARED(<, 0)
STRATA_COMPARED(>, 1)
STRATA_COMPARED(>=, 2)
STRATA_COMPARED(==, 3)
#undef STRATA_COMPARED

}  // namespace strata::particles
