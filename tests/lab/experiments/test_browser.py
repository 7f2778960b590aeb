"""The report in headless Chromium: tables sort, curves hide and answer, nothing is logged, nothing leaves the page."""

from __future__ import annotations

import pytest

from dabp.lab.experiments.report import write_report
from tests.lab.experiments import browser as chromium

EXECUTABLE = chromium.find()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="no Chromium here; 'make test-browser' installs one")


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    report = tmp_path_factory.mktemp("report") / "report.html"
    write_report(results, report)
    browser = chromium.Browser(EXECUTABLE)
    browser.open(report)
    yield browser
    browser.close()


def column(page, index):
    rows = "document.querySelector('table tbody').rows"
    return page.evaluate(f"[...{rows}].map(row => row.cells[{index}].textContent)")


def test_tables_sort_both_ways(page):
    """A click on a heading sorts ascending, another descending; what failed comes last."""
    page.click("table th button", 1)
    up = column(page, 1)
    page.click("table th button", 1)
    down = column(page, 1)
    assert up[-1] == down[-1] == "–"
    numbers = [float(text) for text in up[:-1]]
    assert numbers == sorted(numbers)
    assert [float(text) for text in down[:-1]] == numbers[::-1]
    assert page.evaluate("document.querySelectorAll('table th')[1].getAttribute('aria-sort')") == "descending"


def test_curves_hide_and_come_back(page):
    """A click on a solver hides it in every figure of the plan."""
    count = "document.querySelectorAll('[data-label=\"short\"]').length"
    before = page.evaluate(count)
    assert before >= 8
    page.click(".chip")
    assert page.evaluate(count) == 0
    assert page.evaluate("document.querySelector('.chip').getAttribute('aria-pressed')") == "false"
    page.click(".chip")
    assert page.evaluate(count) == before


def test_curves_answer_the_pointer(page):
    """Hovering a curve names it with its value, and fades the others."""
    page.evaluate("document.querySelector('polyline').scrollIntoView({block: 'center'})")
    x, y = page.evaluate(
        "(line => { const p = line.points[60], m = line.getScreenCTM();"
        " return [p.x * m.a + m.e, p.y * m.d + m.f]; })(document.querySelector('polyline'))"
    )
    page.pointer("mouseMoved", x, y)
    text = page.evaluate("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    assert "at iteration" in text
    assert page.evaluate("document.querySelectorAll('polyline.faded').length") >= 1
    page.pointer("mouseMoved", 2, 2)
    assert page.evaluate("document.getElementById('tip').hidden")


def test_a_phone_needs_no_sideways_scrolling(page):
    """At 375 pixels the page is as wide as the screen; wide tables scroll inside themselves."""
    page.screen(375, 800, mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.screen(1280, 900, mobile=False)


def test_figures_take_the_room_there_is(page):
    """On a wide screen they are wide, drawn in pixels: letters are as large as on a narrow one."""
    units = "(svg => svg.viewBox.baseVal.width / svg.getBoundingClientRect().width)"
    svg = "document.querySelector('.panels svg')"
    wide = "document.querySelector('.panels').getBoundingClientRect().width"
    for width in (1600, 700, 1280):
        page.screen(width, 900, mobile=False)
        for _ in range(100):  # figures are drawn anew when the page has its new size, which takes a moment
            page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            if abs(page.evaluate(f"{units}({svg})") - 1) < 0.02 and page.evaluate(wide) > 0.9 * min(width, 1680) - 40:
                break
        assert page.evaluate(wide) > 0.9 * min(width, 1680) - 40
        assert abs(page.evaluate(f"{units}({svg})") - 1) < 0.02


def test_iterations_are_whole(page):
    """No tick of an axis of iterations lies between two of them, however short the axis."""
    assert page.evaluate("ticks(1, 3, false, true).every(Number.isInteger)")
    assert page.evaluate("ticks(1, 4, true, true).every(Number.isInteger)")
    assert not page.evaluate("ticks(1, 3, false).every(Number.isInteger)")


def test_nothing_is_logged_and_nothing_is_fetched(page):
    """No console message, and no request but for the page itself (and its empty icon)."""
    assert page.messages == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
