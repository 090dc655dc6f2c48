"""A figure as a small ``<svg>`` element inside a page."""

from __future__ import annotations

import html
import re

from matplotlib.figure import Figure

from experiments.output.figures import render

SCREEN_SCALE = 1.6
"""Pixels per point on a page: print sizes are small for a screen."""
MANY_POINTS = 50


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """The figure with text as text, in the typeface of the page.

    Coordinates are kept to a tenth or hundredth of a point, which no screen tells apart, and
    ids, prefixed by ``name``, only where something refers to them.
    """
    source = render(figure, "svg", inline=True).decode()
    svg = source[source.index("<svg") :].strip()
    svg = re.sub(r"\s*<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    size = re.search(r'viewBox="([^"]+)"', svg)
    assert size is not None, "matplotlib writes a viewBox"
    svg = svg[svg.index(">") + 1 :]
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    svg = re.sub(
        r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", svg
    )
    svg = re.sub(r'xlink:href="#|(?<=url\()#', lambda found: _referring(found[0], name), svg)
    svg = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{3,}(?=[\s\"),])", lambda n: f"{float(n[0]):.2f}", svg)
    svg = re.sub(r'(?<= d=")[^"]+', lambda path: _slim_path(path[0]), svg)
    svg = re.sub(r"font-family:[^;\"]*;? ?", "", svg)
    svg = re.sub(r"font: (bold|[6-9]00)? ?[^;\"]*?([\d.]+px)[^;\"]*;?", _font, svg)
    svg = re.sub(r"\s*\n\s*", " ", re.sub(r">\s+<", "><", svg)).replace(' "', '"')
    before = ""
    while svg != before:
        before = svg
        svg = re.sub(r"<g/>|<g></g>", "", svg)
        svg = re.sub(r"<g>(<(?:path|use|rect)\b[^>]*/>)</g>", r"\1", svg)
    width = round(float(size[1].split()[2]) * SCREEN_SCALE)
    return (
        f'<svg class="figure" viewBox="{size[1]}" role="img" aria-label="{html.escape(label)}" '
        f'style="max-width:{width}px">{svg}'
    )


def _referring(found: str, name: str) -> str:
    return f'href="#{name}-' if "href" in found else f"#{name}-"


def _slim_path(path: str) -> str:
    """The same path: numbers after a move or a line are a line's, long curves are coarser."""
    path = re.sub(r"\s*\n\s*", " ", path).strip()
    while path != (shorter := re.sub(r"([ML][^A-Za-z]*) L ", r"\1 ", path)):
        path = shorter
    if path.count(" ") > 2 * MANY_POINTS:
        path = re.sub(r"\d+\.\d\d", lambda number: f"{float(number[0]):.1f}", path)
    return path


def _font(found: re.Match[str]) -> str:
    weight = f"font-weight: {found[1]}; " if found[1] else ""
    return f"{weight}font-size: {found[2]};"
