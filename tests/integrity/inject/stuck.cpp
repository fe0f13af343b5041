#include "stuck.hpp"

#include <cstring>

#include "places.hpp"

namespace inject {

namespace {

// The parts of the area of XSAVE that hold the bit: the low, middle and high parts of the first 16 registers,
// and the others.
struct Part {
    std::size_t offset, each, count;
    unsigned first_bit;
};

std::vector<Part> parts(const std::vector<std::byte>& area) {
    std::vector<Part> found;
    for (const Stretch& each : vector_registers(area)) {
        if (each.component == 5 || each.component == 18)  // masks and tiles have lanes of another kind
            continue;
        const unsigned first = each.component == 2 ? 128 : each.component == 6 ? 256 : 0;
        found.push_back({each.offset, each.each, each.bytes / each.each, first});
    }
    return found;
}

int force(std::vector<std::byte>& now, const std::vector<std::byte>& before, const Stuck& lane) {
    int forced = 0;
    const std::byte mask{static_cast<std::uint8_t>(1U << lane.bit % 8)};
    for (const Part& part : parts(now)) {
        if (lane.bit < part.first_bit || lane.bit >= part.first_bit + 8 * part.each) continue;
        for (std::size_t i = 0; i < part.count; ++i) {
            const std::size_t from = part.offset + i * part.each;
            if (std::memcmp(&now[from], &before[from], part.each) == 0)
                continue;  // not the result of this instruction
            std::byte& byte = now[from + (lane.bit - part.first_bit) / 8];
            const std::byte wanted = lane.one ? byte | mask : byte & ~mask;
            forced += wanted != byte;
            byte = wanted;
        }
    }
    return forced;
}

}  // namespace

Stuck draw_lane(const Tracee& process, std::mt19937_64& random) {
    unsigned bits = 128;
    for (const Part& part : parts(process.registers().vectors))
        bits = std::max(bits, part.first_bit + 8 * static_cast<unsigned>(part.each));
    return {std::uniform_int_distribution<unsigned>(0, bits - 1)(random),
            std::bernoulli_distribution(0.5)(random)};
}

int run_stuck(Tracee& process, const Stuck& lane, int steps) {
    int forced = 0;
    Registers before = process.registers();
    for (int i = 0; i < steps; ++i) {
        process.step();
        if (!process.stepped()) break;
        Registers now = process.registers();
        if (const int here = force(now.vectors, before.vectors, lane); here > 0) {
            process.set(now);
            forced += here;
        }
        before = std::move(now);
    }
    return forced;
}

}  // namespace inject
