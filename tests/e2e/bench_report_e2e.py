"""Pages of bench results in headless Chromium, opened as files: every chart has ink, nothing is asked of
any host, nothing fails; in both languages, light and dark, wide, narrow and on paper.

With EVENER_SCREENSHOTS=FOLDER the pictures are kept there.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import SKIPPED, contains, equal, run_tests
from page_e2e import Browser, text_of

# Painted pixels of each chart that lie neither on its edges nor on a grid line: colours of series.
INK = """
  return [...document.querySelectorAll('.chart')].map((figure) => {
    const canvas = figure.querySelector('canvas');
    if (!canvas || !canvas.width) return [figure.dataset.chart, 0];
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let coloured = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      const [r, g, b, a] = [pixels[i], pixels[i + 1], pixels[i + 2], pixels[i + 3]];
      if (a > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 40) ++coloured;
    }
    return [figure.dataset.chart, coloured];
  });"""


def url_of(folder, name):
    return "file://" + os.path.join(folder, name)


def fits(browser):
    return browser.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def shots_of_page(browser, name, sections):
    """The page as it is first seen, and each of `sections`."""
    browser.run("scrollTo(0, 0)")
    browser.screenshot(name)
    for section in sections:
        browser.run("document.getElementById(arguments[0]).scrollIntoView()", section)
        browser.screenshot(f"{name}-{section}")


SECTIONS = ["sweep", "concurrency", "load", "starvation", "coldstart", "soak", "telemetry", "warnings"]


def test_every_chart_has_ink(folder, browser):
    browser.open(url_of(folder, "sample.html"))
    ink = browser.run(INK)
    assert len(ink) >= 20, ink
    for name, coloured in ink:
        assert coloured > 100, (name, coloured)
    equal(browser.run("return document.documentElement.dataset.theme"), "light")
    equal(browser.run("return document.querySelectorAll('.phases .bar span').length"), 10)
    shots_of_page(browser, "report-light", SECTIONS)


def test_the_tables_and_the_appendix_agree(folder, browser):
    first = browser.run("return document.querySelector('#results-sweep tbody tr').innerText.split(/\\s+/)")
    appendix = browser.run("return JSON.parse(document.getElementById('appendix').textContent)")
    point = next(each for each in appendix["points"] if each["experiment"] == "sweep" and each["target"]["num_tokens_in"] == "1024")
    equal(first[0], "1024")
    equal(float(first[1]), round(point["figures"]["ttft_ms"]["p50"] / 1000, 2))


def test_it_speaks_chinese(folder, browser):
    contains(text_of(browser, "#sweep h2"), "Context length")
    browser.click("#language")
    equal(text_of(browser, "#sweep h2"), "上下文长度")
    contains(browser.run("return document.title"), "性能测试报告")
    equal(browser.run("return document.documentElement.lang"), "zh-Hans")
    contains(browser.run("return document.querySelector('[data-chart=\"decode-length\"] .u-legend').innerText"), "全程")
    visible = browser.run("return [...document.querySelectorAll('main [lang=\"en\"]')].filter((each) => each.offsetParent).length")
    equal(visible, 0)
    shots_of_page(browser, "report-chinese", ["sweep", "starvation", "warnings"])
    browser.click("#language")
    contains(text_of(browser, "#sweep h2"), "Context length")


def test_it_turns_dark_and_redraws(folder, browser):
    paper = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.click("#theme")
    equal(browser.run("return document.documentElement.dataset.theme"), "dark")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") != paper
    for name, coloured in browser.run(INK):
        assert coloured > 100, (name, coloured)
    shots_of_page(browser, "report-dark", ["sweep", "starvation", "telemetry", "warnings"])
    browser.click("#theme")
    equal(browser.run("return getComputedStyle(document.body).backgroundColor"), paper)


def test_the_keys_walk_through_a_chart(folder, browser):
    browser.run("document.querySelector('[data-chart=\"ttft-length\"] .plot').focus()")
    press = """
      const plot = document.querySelector('[data-chart="ttft-length"] .plot');
      plot.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}));
      return plot.querySelector('.u-legend .u-value').innerText;"""
    equal(browser.run(press, "ArrowRight"), "1,024")
    equal(browser.run(press, "ArrowRight"), "2,048")
    equal(browser.run(press, "ArrowLeft"), "1,024")


def test_a_narrow_screen_needs_no_sideways_scrolling(folder, browser):
    for width in (360, 390, 768):
        browser.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": 800, "deviceScaleFactor": 2, "mobile": True}})
        browser.open(url_of(folder, "sample.html"))
        equal(fits(browser), True)
        equal(browser.run("return [...document.querySelectorAll('.plot canvas')].every((each) => each.getBoundingClientRect().right <= innerWidth)"), True)
        if width == 390:
            shots_of_page(browser, "report-narrow", SECTIONS)
    browser.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})


def test_on_paper_it_is_light_and_whole(folder, browser):
    browser.open(url_of(folder, "sample.html"))
    browser.click("#theme")
    pdf = base64.b64decode(browser.call("POST", "/print", {"page": {"width": 21.0, "height": 29.7}}))
    assert pdf.startswith(b"%PDF"), pdf[:20]
    equal(browser.run("return document.documentElement.dataset.theme"), "dark")  # as before
    equal(browser.run("return document.querySelectorAll('details[open]').length"), 0)
    pictures = os.environ.get("EVENER_SCREENSHOTS")
    if pictures:
        with open(os.path.join(pictures, "report.pdf"), "wb") as file:
            file.write(pdf)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    equal(browser.run("return document.documentElement.dataset.theme"), "light")
    assert browser.run("return document.querySelectorAll('details[open]').length") > 3
    browser.run("dispatchEvent(new Event('afterprint'))")


def test_names_that_are_markup_stay_text(folder, browser):
    browser.open(url_of(folder, "hostile.html"))
    equal(browser.run("return document.querySelectorAll('img, main script, main a, main iframe').length"), 0)
    contains(text_of(browser, "h1"), "</script><img src=x onerror=alert(1)>")
    equal(browser.run("return JSON.parse(document.getElementById('appendix').textContent).schema"), "evener-bench-report")
    browser.screenshot("report-hostile")
    equal(fits(browser), True)


def test_an_empty_run_is_a_page_too(folder, browser):
    browser.open(url_of(folder, "empty.html"))
    contains(text_of(browser, "main"), "这次运行没有任何单元")
    browser.screenshot("report-empty")


def test_nothing_was_asked_of_any_host_and_nothing_failed(folder, browser):
    asked = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    urls = [each["params"]["request"]["url"] for each in asked if each["method"] == "Network.requestWillBeSent"]
    assert any(url.startswith("file://" + folder) for url in urls), urls
    equal([url for url in urls if not url.startswith(("file://" + folder, "data:", "chrome:"))], [])
    equal([entry["message"] for entry in browser.log("browser") if entry["level"] == "SEVERE"], [])


def main(write_report):
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: chromium and chromium-driver are not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([write_report, folder], check=True)
        browser = Browser()
        try:
            run_tests(globals(), folder, browser)
        finally:
            browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
