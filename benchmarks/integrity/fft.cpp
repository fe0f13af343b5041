#include "benchmarks/integrity/fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "benchmarks/integrity/fft_stages.hpp"

namespace strata::integrity {
namespace {

struct Vectors {};

constexpr int kProducts = 16;
constexpr double kMostRounding = 0.05;

void change_sides(FftRoom& room) {
    std::swap(room.re, room.other_re);
    std::swap(room.im, room.other_im);
}

template <class Spectrum, class Product>
void products(const Round& round, Trace& trace, const Spectrum& spectrum, const Product& product) {
    FftRoom room = fft_room(round.scratch);
    fft_angles(room);
    Random random(round.seed);
    for (int i = 0; i < kProducts; ++i) {
        fft_digits(random.next(), room);
        spectrum(room);
        trace.add(digest_of(room.im, digest_of(room.re)));
        product(room);
        trace.add(digest_of(room.im, digest_of(room.re)));
        trace.add(digest_of(room.product));
        trace.did(2 * 5 * kPoints * 13);
    }
    // What every product used.
    trace.add(digest_of(room.sine, digest_of(room.cosine)));
}

}  // namespace

FftRoom fft_room(std::span<std::byte> scratch) {
    std::span<double> doubles(reinterpret_cast<double*>(scratch.data()), 5 * kPoints);
    std::span<std::uint16_t> digits(reinterpret_cast<std::uint16_t*>(scratch.data() + doubles.size_bytes()),
                                    2 * kPoints);
    FftRoom room;
    for (std::span<double>* part : {&room.re, &room.im, &room.other_re, &room.other_im}) {
        *part = doubles.first(kPoints);
        doubles = doubles.subspan(kPoints);
    }
    room.cosine = doubles.first(kPoints / 2);
    room.sine = doubles.subspan(kPoints / 2);
    room.a = digits.first(kPoints / 2);
    room.b = digits.subspan(kPoints / 2, kPoints / 2);
    room.product = digits.subspan(kPoints);
    return room;
}

void fft_angles(FftRoom& room) {
    for (std::size_t j = 0; j < kPoints / 2; ++j) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(kPoints);
        room.cosine[j] = std::cos(angle);
        room.sine[j] = std::sin(angle);
    }
}

void fft_digits(std::uint64_t seed, FftRoom& room) {
    Random random(seed);
    for (std::size_t i = 0; i < kPoints / 2; ++i) {
        const std::uint64_t word = random.next();
        room.a[i] = word & 0xfffU;
        room.b[i] = word >> 12U & 0xfffU;
    }
    for (std::size_t i = 0; i < kPoints; ++i) {
        room.re[i] = i < kPoints / 2 ? room.a[i] : 0.0;
        room.im[i] = i < kPoints / 2 ? room.b[i] : 0.0;
    }
}

void fft_spectrum(FftRoom& room) {
    fft_stages<Vectors>(room, -1);
    change_sides(room);
}

double fft_product(FftRoom& room) {
    fft_square<Vectors>(room);
    change_sides(room);
    constexpr double scale = 0.5 / static_cast<double>(kPoints);
    double farthest = 0;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < kPoints; ++i) {
        const double coefficient = scale * room.im[i], whole = std::nearbyint(coefficient);
        farthest = std::max(farthest, std::abs(coefficient - whole));
        carry += static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
        room.product[i] = carry & 0xfffU;
        carry >>= 12U;
    }
    return farthest;
}

bool fft(const Round& round, Trace& trace) {
    products(round, trace, fft_spectrum, [&](FftRoom& room) {
        const double farthest = fft_product(room);
        if (!(farthest < kMostRounding))
            trace.expect(static_cast<int>(trace.steps()), 0, std::bit_cast<std::uint64_t>(farthest));
    });
    return true;
}

bool fft_reference(const Round& round, Trace& trace) {
    products(round, trace, fft_spectrum_reference, fft_product_reference);
    return true;
}

std::string fft_place(int step) {
    if (step >= 3 * kProducts) return "sines and cosines";
    constexpr std::array<const char*, 3> of = {"spectrum", "coefficients", "digits"};
    return fmt::format("{} of product {} of {}", of[static_cast<std::size_t>(step % 3)], step / 3 + 1,
                       kProducts);
}

}  // namespace strata::integrity
