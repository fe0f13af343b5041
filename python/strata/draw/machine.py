"""From the machine document to a drawing: packages > domains > shared caches > cores > PUs, with memories and
devices beside their domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strata.advice import core_kinds
from strata.advice.samples import Machine, cpulist, print_cpulist
from strata.advice.words import count, digits, size
from strata.draw.boxes import Box

WIDTH = 1040.0
DETAILED = 16  # up to so many cores every core names its PUs and caches
NAMED = 64  # up to so many cores every core carries its number

STYLE = """
.strata-machine{--m-ink:var(--ink,#1b2430);--m-soft:var(--soft,#5a6675);
--m-line:var(--line,#c9d1db);--m-panel:var(--panel,#f4f6f9);--m-page:var(--page,#ffffff);
--m-core:var(--c1,#2f6fae);--m-core2:var(--c3,#2a8a6d);--m-core3:var(--c4,#8a5fb0);
--m-mem:var(--c2,#b9651b);--m-hbm:var(--c5,#a8324a);--m-dev:var(--c6,#66788a)}
@media (prefers-color-scheme:dark){.strata-machine{--m-ink:var(--ink,#e5e9ef);
--m-soft:var(--soft,#9aa6b5);--m-line:var(--line,#3b4654);--m-panel:var(--panel,#1b222b);
--m-page:var(--page,#12171e);--m-core:var(--c1,#6aa7e0);--m-core2:var(--c3,#57bd9c);
--m-core3:var(--c4,#b795dc);--m-mem:var(--c2,#dd944f);--m-hbm:var(--c5,#e07a8d);
--m-dev:var(--c6,#94a4b5)}
}
.strata-machine text{
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
fill:var(--m-ink)}
.strata-machine .t{font-weight:600}
.strata-machine .s{fill:var(--m-soft)}
.strata-machine .page{fill:var(--m-page)}
.strata-machine .package{fill:var(--m-page);stroke:var(--m-line);stroke-width:1.5}
.strata-machine .domain{fill:var(--m-panel);stroke:var(--m-line)}
.strata-machine .cache{fill:var(--m-page);stroke:var(--m-line)}
.strata-machine .core{fill:var(--m-core);fill-opacity:.16;stroke:var(--m-core)}
.strata-machine .k1{fill:var(--m-core2);stroke:var(--m-core2)}
.strata-machine .k2{fill:var(--m-core3);stroke:var(--m-core3)}
.strata-machine .pu{fill:var(--m-page);stroke:var(--m-core);stroke-opacity:.7}
.strata-machine .off{fill:var(--m-soft);fill-opacity:.13;stroke:var(--m-soft);stroke-dasharray:3 2;
stroke-opacity:.6}
.strata-machine .memory{fill:var(--m-mem);fill-opacity:.14;stroke:var(--m-mem)}
.strata-machine .HBM,.strata-machine .CXL{fill:var(--m-hbm);fill-opacity:.14;stroke:var(--m-hbm)}
.strata-machine .alone{stroke-dasharray:5 3}
.strata-machine .device{fill:var(--m-dev);fill-opacity:.12;stroke:var(--m-dev)}
.strata-machine .dot{fill:var(--m-core)}
.strata-machine .near{fill:var(--m-core)}
"""


def machine_svg(machine: Machine) -> str:
    """The drawing as one SVG element: light and dark by itself, and in the colours of a page that defines
    --ink, --line, --c1 and so on.
    """
    rows: list[Box] = [_title(machine)]
    rows += [_package(machine, p) for p in machine["packages"]]
    rest = _unplaced_devices(machine)
    if rest:
        rows.append(Box("", "Devices without a known domain", children=rest, pad=0))
    whole = Box("", children=rows, columns=1, pad=12, gap=12)
    whole.arrange(_page_width(machine))
    parts = [whole.svg()]
    width, height = max(_page_width(machine), whole.width), whole.height
    distances, extra = _distances(machine, height)
    legend, tail = _legend(machine, height + extra)
    height += extra + tail
    head = (
        f'<svg class="strata-machine" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" role="img" '
        f'width="{width:.0f}" height="{height:.0f}" aria-label="Drawing of the machine">'
    )
    return (
        f'{head}<style>{STYLE}</style><rect class="page" width="100%" '
        f'height="100%"/>{"".join(parts)}{distances}{legend}</svg>'
    )


def _page_width(machine: Machine) -> float:
    """Few cores are drawn on a narrower page, so that a screen shows them larger."""
    return WIDTH if len(machine["cores"]) > 4 else 560.0


def _title(machine: Machine) -> Box:
    cores = len(machine["cores"])
    pus = sum(len(c["pus"]) for c in machine["cores"])
    parts = [
        count(len(machine["packages"]), "package"),
        count(len(machine["domains"]), "domain"),
        count(cores, "core"),
    ]
    if pus != cores:
        parts.append(f"{pus} hardware threads")
    parts.append(size(sum(m.get("total_bytes") or 0 for m in machine["memories"])) + " memory")
    return Box("", machine.get("cpu_model") or "Processor", (", ".join(parts),), font=16, pad=0)


def _package(machine: Machine, package: Mapping[str, Any]) -> Box:
    pus = set(cpulist(package["pus"]))
    domains = [d for d in machine["domains"] if pus & set(cpulist(d["pus"]))]
    columns = 1 if len(domains) == 1 else 2 if len(domains) == 2 else 4
    inner = _page_width(machine) - 24 - 2 * 10
    width = (inner - (columns - 1) * 8) / columns
    boxes = [_domain(machine, d, width, pus) for d in domains]
    title = f"Package {package['index']}"
    return Box(
        "package", title, children=boxes, columns=columns, pad=10, gap=8, least_width=inner + 20, even=True
    )


def _domain(machine: Machine, domain: Mapping[str, Any], width: float, pus: set[int]) -> Box:
    cores = [c for c in machine["cores"] if c["domain"] == domain["index"] and pus & set(c["pus"])]
    content = _groups(machine, [c["index"] for c in cores], _shared_caches(machine, cores))
    memories = [m for m in machine["memories"] if m.get("domain") == domain["index"]]
    alone = [
        m
        for m in machine["memories"]
        if m.get("domain") is None and m.get("nearest_domain") == domain["index"]
    ]
    devices = [d for d in machine.get("devices") or [] if d.get("domain") == domain["index"]]
    rows = [Box("", children=content, pad=0)]
    rows.append(Box("", children=[_memory(m, width) for m in (*memories, *alone)], pad=0))
    if devices:
        rows.append(Box("", children=[_device(d) for d in devices], pad=0, gap=5))
    numbers = print_cpulist(p for c in cores for p in c["pus"])
    return Box(
        "domain",
        f"Domain {domain['index']}",
        (f"{count(len(cores), 'core')}, CPUs {numbers}",),
        children=rows,
        columns=1,
        least_width=width,
    )


def _shared_caches(machine: Machine, cores: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Caches that several of these cores share, outermost first; of two with the same cores at one level one
    is enough.
    """
    own, seen, shared = {c["index"] for c in cores}, set(), []
    for cache in sorted(machine.get("caches") or [], key=lambda c: (-c["level"], c["cores"])):
        members = frozenset(own & set(cache["cores"]))
        if (
            len(cache["cores"]) < 2
            or not members
            or cache["type"] == "instruction"
            or (cache["level"], members) in seen
        ):
            continue
        seen.add((cache["level"], members))
        shared.append(cache)
    return shared


def _groups(machine: Machine, cores: list[int], caches: list[Mapping[str, Any]]) -> list[Box]:
    """These cores as boxes, those under a shared cache inside its box; caches are outermost first."""
    boxes: list[Box] = []
    left = list(cores)
    while left:
        cache = next((c for c in caches if left[0] in c["cores"]), None)
        if cache is None:
            boxes.append(_core(machine, machine["cores"][left.pop(0)]))
            continue
        members = [c for c in left if c in cache["cores"]]
        left = [c for c in left if c not in members]
        inner = [c for c in caches if c is not cache and c["level"] < cache["level"]]
        title = f"L{cache['level']} {size(cache['size_bytes'])}"
        boxes.append(
            Box("cache", title, children=_groups(machine, members, inner), font=11, pad=6, gap=_gap(machine))
        )
    return boxes


def _gap(machine: Machine) -> float:
    return 6.0 if len(machine["cores"]) <= DETAILED else 3.0


def _core(machine: Machine, core: Mapping[str, Any]) -> Box:
    allowed = (machine.get("allowed") or {}).get("pus")
    may = set(cpulist(allowed)) if allowed is not None else set(core["pus"])
    style = f"core k{core.get('kind') or 0}" if may & set(core["pus"]) else "off"
    cores = len(machine["cores"])
    tip = f"core {core['index']}, CPUs {print_cpulist(core['pus'])}"
    if style == "off":
        tip += ", not allowed to this process"
    if cores <= DETAILED:
        clock = core.get("max_mhz") or core.get("base_mhz")
        lines = _private_caches(machine, core["index"])
        lines += (f"{digits(clock / 1000)} GHz",) if clock else ()
        pus = [
            Box("pu" if p in may else "off", f"CPU {p}", font=10, pad=4, centred=True) for p in core["pus"]
        ]
        return Box(style, f"Core {core['index']}", lines, children=pus, font=12, pad=6, gap=4, tooltip=tip)
    side = (25.0 if cores <= NAMED else 22.0) if cores <= 512 else 12.0
    label = str(core["index"]) if cores <= 1000 else ""
    font = (11.0 if cores <= NAMED else 9.5) if cores <= 512 else 6.0
    dots = len(core["pus"]) if len(core["pus"]) > 1 and cores <= 512 else 0
    height = side * (0.96 if dots else 0.86)
    return Box(
        style,
        label,
        least_width=side,
        least_height=height,
        font=font,
        pad=1.5,
        centred=True,
        tooltip=tip,
        dots=dots,
    )


def _private_caches(machine: Machine, core: int) -> tuple[str, ...]:
    own = [c for c in machine.get("caches") or [] if c["cores"] == [core] and c["type"] != "instruction"]
    own.sort(key=lambda c: -c["level"])
    return tuple(f"L{c['level']}{'d' if c['type'] == 'data' else ''} {size(c['size_bytes'])}" for c in own)


def _memory(memory: Mapping[str, Any], width: float) -> Box:
    kind = memory.get("kind") or "unknown"
    style = "memory" + (f" {kind}" if kind in ("HBM", "CXL") else "")
    lines = []
    if memory.get("free_bytes") is not None:
        lines.append(f"{size(memory['free_bytes'])} free")
    if memory.get("domain") is None:
        style += " alone"
        lines.append("no cores of its own")
    title = f"{kind if kind != 'unknown' else 'Memory'} {size(memory.get('total_bytes') or 0)}"
    text = ", ".join(lines)
    tip = f"memory {memory['os_index']}"
    return Box(
        style, title, (text,) if text else (), font=11, pad=6, tooltip=tip, least_width=min(216.0, width - 16)
    )


def _device(device: Mapping[str, Any]) -> Box:
    name = device.get("name") or device.get("type") or "device"
    return Box("device", f"{device['type']}: {name}", font=10, pad=4, tooltip=str(device.get("info") or ""))


def _unplaced_devices(machine: Machine) -> list[Box]:
    return [_device(d) for d in machine.get("devices") or [] if d.get("domain") is None]


def _distances(machine: Machine, top: float) -> tuple[str, float]:
    """The firmware's distances as a shaded matrix, darker is farther; nothing for a single memory."""
    table = machine.get("distances")
    if not table or len(table["memories"]) < 2:
        return "", 0.0
    numbers = {m["index"]: m["os_index"] for m in machine["memories"]}
    matrix, names = table["matrix"], [numbers[m] for m in table["memories"]]
    cell = 34.0 if len(names) <= 12 else 22.0
    flat = [v for row in matrix for v in row]
    low, high = min(flat), max(flat)
    x0, y0 = 60.0, top + 46.0
    parts = [
        f'<text class="t" x="12" y="{top + 14:.0f}" font-size="12">Distances between memories</text>',
        f'<text class="s" x="12" y="{top + 30:.0f}" font-size="10.5">as the firmware states them, own '
        f"memory {low:g}; "
        "rows and columns are memories</text>",
    ]
    for i, row in enumerate(matrix):
        parts.append(
            f'<text class="s" x="{x0 - 8:.0f}" y="{y0 + (i + 0.65) * cell:.1f}" text-anchor="end" '
            f'font-size="10">{names[i]}</text>'
        )
        parts.append(
            f'<text class="s" x="{x0 + (i + 0.5) * cell:.1f}" y="{y0 + len(names) * cell + 14:.1f}" '
            'text-anchor="middle" '
            f'font-size="10">{names[i]}</text>'
        )
        for j, value in enumerate(row):
            shade = 0.06 + 0.5 * (value - low) / (high - low) if high > low else 0.06
            x, y = x0 + j * cell, y0 + i * cell
            parts.append(
                f'<rect class="near" fill-opacity="{shade:.2f}" x="{x:.1f}" y="{y:.1f}" '
                f'width="{cell - 2:.1f}" height="{cell - 2:.1f}"/>'
            )
            parts.append(
                f'<text x="{x + 0.5 * cell - 1:.1f}" y="{y + 0.5 * cell + 3:.1f}" text-anchor="middle" '
                f'font-size="{cell * 0.32:.1f}">'
                f"{value:g}</text>"
            )
    return "".join(parts), 46.0 + len(names) * cell + 30.0


def _legend(machine: Machine, top: float) -> tuple[str, float]:
    """Only what occurs in this drawing."""
    kinds = machine.get("core_kinds") or []
    entries: list[tuple[str, str]] = []
    for kind in kinds if len(kinds) > 1 else [None]:
        name = core_kinds.name(kind) if kind else ""
        entries.append((f"core k{kind['index'] if kind else 0}", f"core ({name})" if name else "core"))
    allowed = (machine.get("allowed") or {}).get("pus")
    if allowed is not None and not all(set(c["pus"]) & set(cpulist(allowed)) for c in machine["cores"]):
        entries.append(("off", "core not allowed to this process"))
    entries.append(("memory", "memory"))
    for kind_name in ("HBM", "CXL"):
        if any(m.get("kind") == kind_name for m in machine["memories"]):
            entries.append((f"memory {kind_name}", kind_name))
    if machine.get("devices"):
        entries.append(("device", "device"))
    x, parts = 12.0, []
    for style, text in entries:
        parts.append(f'<rect class="{style}" x="{x:.0f}" y="{top:.0f}" width="14" height="12" rx="2"/>')
        parts.append(f'<text class="s" x="{x + 19:.0f}" y="{top + 10:.0f}" font-size="11">{text}</text>')
        x += 19 + len(text) * 6.3 + 22
    if len(machine["cores"]) > DETAILED:
        sizes = _private_caches(machine, machine["cores"][0]["index"])
        if len(machine["cores"][0]["pus"]) > 1:
            sizes += ("dots are hardware threads",)
        if sizes and len(kinds) < 2:
            parts.append(
                f'<text class="s" x="{x:.0f}" y="{top + 10:.0f}" font-size="11">each core: '
                f"{', '.join(sizes)}</text>"
            )
    return "".join(parts), 30.0
