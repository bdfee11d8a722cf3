// Draws the charts of a benchmark report from the JSON in the page, and switches its language and
// its colours. Everything else is there without it.
"use strict";
(() => {
  const root = document.documentElement;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const plots = new Map();  // figure -> { chart, plot }
  const CHART_HEIGHT = 250;
  const SERIES_COLOURS = 6;

  const language = () => (root.dataset.language === "zh" ? "zh" : "en");
  const say = (text) => text[language()];
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // numbers

  const SUFFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  function short(value) {
    const size = Math.abs(value);
    if (size >= 10000) {
      const [unit, suffix] = SUFFIXES.find(([each]) => size >= each);
      return +(value / unit).toPrecision(3) + suffix;
    }
    return String(+value.toPrecision(4));
  }
  function tick(axis) {
    if (axis.unit === "share") return (value) => Math.round(value * 100) + "%";
    if (axis.unit === "B") return bytes;
    if (axis.unit === "ms") return (value) => (value >= 1000 ? short(value / 1000) + " s" : short(value) + " ms");
    return short;
  }
  function bytes(value) {
    for (const [power, name] of [[30, "GiB"], [20, "MiB"], [10, "KiB"]]) {
      if (value >= 2 ** power) return short(value / 2 ** power) + " " + name;
    }
    return short(value) + " B";
  }
  function withUnit(axis) {
    const format = tick(axis);
    const has = axis.unit && !["share", "B", "ms"].includes(axis.unit);
    return (value) => (value === null || value === undefined ? "" : format(value) + (has ? " " + axis.unit : ""));
  }
  // 1, 2, 5, 10, 20, ...: as many of them as there is room for.
  function decades(from, to, room) {
    for (const steps of [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1, 3], [1]]) {
      const ticks = [];
      for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; ++power) {
        for (const step of steps) ticks.push(+(step * 10 ** power).toPrecision(2));
      }
      const inside = ticks.filter((each) => each >= from && each <= to);
      if (inside.length <= room || steps.length === 1) return inside;
    }
  }
  // Prompt lengths and sizes are powers of two: "16k" is 16384.
  function powers(from, to) {
    const ticks = [];
    for (let at = 2 ** Math.floor(Math.log2(from)); at <= to * 1.001; at *= 2) if (at >= from * 0.999) ticks.push(at);
    return ticks;
  }
  const length = (value) => (value >= 1024 ? +(value / 1024).toPrecision(3) + "K" : String(value));

  // what uPlot does not draw itself

  function drawShades(chart) {
    return (plot) => {
      const { left, top, width, height } = plot.bbox;
      plot.ctx.save();
      plot.ctx.beginPath();
      plot.ctx.rect(left, top, width, height);
      plot.ctx.clip();
      plot.ctx.fillStyle = colour("--shade");
      for (const shade of chart.shades) {
        const from = plot.valToPos(shade.from, "x", true);
        const to = plot.valToPos(shade.to, "x", true);
        plot.ctx.fillRect(from, top, Math.max(to - from, 1), height);
      }
      plot.ctx.strokeStyle = colour("--quiet");
      plot.ctx.globalAlpha = 0.55;
      plot.ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
      plot.ctx.lineWidth = devicePixelRatio;
      for (const mark of chart.marks) {
        const x = Math.round(plot.valToPos(mark, "x", true)) + 0.5;
        plot.ctx.beginPath();
        plot.ctx.moveTo(x, top);
        plot.ctx.lineTo(x, top + height);
        plot.ctx.stroke();
      }
      plot.ctx.restore();
    };
  }

  // Neighbours of one name, such as the cells of an experiment, are named once, where there is room,
  // with a line where they begin.
  function nameShades(plot, chart) {
    const groups = [];
    for (const shade of chart.shades) {
      const name = say(shade.name);
      if (groups.at(-1)?.name === name) groups.at(-1).to = shade.to;
      else groups.push({ name, from: shade.from, to: shade.to });
    }
    if (groups.length < 2) return;
    plot.ctx.save();
    plot.ctx.font = 11 * devicePixelRatio + "px " + getComputedStyle(document.body).fontFamily;
    plot.ctx.textAlign = "left";
    plot.ctx.textBaseline = "top";
    for (const group of groups) {
      const from = plot.valToPos(group.from, "x", true);
      const to = plot.valToPos(group.to, "x", true);
      plot.ctx.fillStyle = colour("--line");
      plot.ctx.fillRect(Math.round(from), plot.bbox.top, devicePixelRatio, plot.bbox.height);
      const inset = 5 * devicePixelRatio;
      const { width } = plot.ctx.measureText(group.name);
      if (width + 2 * inset > to - from) continue;
      plot.ctx.fillStyle = colour("--paper");  // so that no grid line strikes it through
      plot.ctx.fillRect(from + inset / 2, plot.bbox.top + inset / 2, width + inset, 11 * devicePixelRatio + inset);
      plot.ctx.fillStyle = colour("--quiet");
      plot.ctx.fillText(group.name, from + inset, plot.bbox.top + inset);
    }
    plot.ctx.restore();
  }

  // 95 % intervals as thin bars through their points.
  function drawIntervals(chart, colours) {
    return (plot) => {
      plot.ctx.save();
      plot.ctx.lineWidth = 1.5 * devicePixelRatio;
      chart.series.forEach((series, index) => {
        if (!series.low || !plot.series[index + 1].show) return;
        plot.ctx.strokeStyle = colours[index];
        series.x.forEach((x, place) => {
          if (series.low[place] === series.high[place]) return;
          const at = plot.valToPos(x, "x", true);
          plot.ctx.beginPath();
          plot.ctx.moveTo(at, plot.valToPos(series.low[place], "y", true));
          plot.ctx.lineTo(at, plot.valToPos(series.high[place], "y", true));
          plot.ctx.stroke();
        });
      });
      plot.ctx.restore();
    };
  }

  // a chart

  function axis(spec, scale, more) {
    const label = [say(spec.label), ["share", "B", "ms"].includes(spec.unit) ? "" : spec.unit].filter(Boolean).join(" · ");
    return {
      scale,
      stroke: colour("--quiet"),
      font: "12px " + getComputedStyle(document.body).fontFamily,
      labelFont: "12px " + getComputedStyle(document.body).fontFamily,
      grid: { stroke: colour("--grid"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1, size: 5 },
      label,
      labelSize: label ? 20 : 0,
      ...more,
    };
  }

  // The smallest and the largest of all values, and a little air on both sides; with `headroom` more
  // of it above, for names.
  function range(values, log, fromZero, headroom) {
    let low = Math.min(...values);
    let high = Math.max(...values);
    if (!Number.isFinite(low)) return log ? [1, 10] : [0, 1];
    if (log) {
      low = Math.max(low, 1e-9);
      return [low / 1.25, Math.max(high, low) * 1.25];
    }
    const air = (high - low || Math.abs(high) || 1) * 0.06;
    return [fromZero && low >= 0 ? 0 : low - air, high + air * (headroom ? 3 : 1)];
  }

  function xAxis(chart) {
    const isPower = chart.x.log && chart.x.unit !== "ms";
    const format = isPower && chart.x.unit === "" ? length : tick(chart.x);
    const more = { values: (plot, splits) => splits.map((value) => (value === null ? "" : format(value))), space: 56, size: 34, filter: (plot, splits) => splits };
    if (!chart.x.log && chart.x.unit === "") more.incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];  // users, turns
    if (isPower) {
      more.splits = (plot, index, from, to) => {
        const all = powers(from, to);
        const room = Math.max(1, Math.floor(plot.width / 64));
        const step = Math.ceil(all.length / room);
        return all.filter((value, place) => place % step === 0);
      };
    } else if (chart.x.log) {
      more.splits = (plot, index, from, to) => decades(from, to, Math.max(2, Math.floor(plot.width / 70)));
    }
    return axis(chart.x, "x", more);
  }

  function options(chart, width, colours, data) {
    const ys = chart.series.flatMap((series) => [...series.y, ...(series.low ?? []), ...(series.high ?? [])]).filter((value) => value !== null);
    const xs = data[0];
    const isTime = chart.x.unit === "s";
    const fromZero = chart.y.unit !== "°C" && chart.y.unit !== "MHz" && chart.y.unit !== "MiB";
    const xRange = isTime ? [xs[0], xs.at(-1)] : range(xs, chart.x.log, false);
    const valueOf = withUnit(chart.y);
    const xValue = chart.x.log && chart.x.unit === "" ? (value) => (value === null || value === undefined ? "" : value.toLocaleString("en")) : withUnit(chart.x);
    const yFormat = tick(chart.y);
    return {
      width,
      height: CHART_HEIGHT,
      scales: {
        x: { time: false, distr: chart.x.log ? 3 : 1, range: (plot, low, high) => (low === xs[0] && high === xs.at(-1) ? xRange : [low, high]) },
        y: { distr: chart.y.log ? 3 : 1, range: chart.y.unit === "share" ? [0, 1.02] : range(ys, chart.y.log, fromZero, chart.shades.length > 1) },
      },
      axes: [
        xAxis(chart),
        axis(chart.y, "y", {
          values: (plot, splits) => splits.map((value) => (value === null ? "" : yFormat(value))),
          size: 58,
          space: 36,
          filter: (plot, splits) => splits,
          ...(chart.y.log ? { splits: (plot, index, from, to) => decades(from, to, 7) } : {}),
        }),
      ],
      series: [
        { label: say(chart.x.label), value: (plot, value) => xValue(value) },
        ...chart.series.map((series, index) => ({
          label: say(series.name),
          stroke: colours[index],
          width: 1.75,
          dash: index >= SERIES_COLOURS ? [6, 4] : undefined,
          spanGaps: true,
          paths: series.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
          points: { show: !series.steps && series.x.length <= 40, size: 6, fill: colours[index], width: 0 },
          value: (plot, value) => valueOf(value),
        })),
      ],
      legend: { markers: { width: 0, fill: (plot, index) => colours[index - 1] ?? "transparent" } },
      cursor: { points: { size: 8 }, drag: { x: true, y: false } },
      hooks: { drawClear: [drawShades(chart)], draw: [drawIntervals(chart, colours), (plot) => nameShades(plot, chart)] },
    };
  }

  function extraLegend(chart) {
    const extra = document.createElement("div");
    extra.className = "extra";
    for (const [text, present, kind] of [[chart.shadeName, chart.shades.length, "shade"], [chart.markName, chart.marks.length, "line"]]) {
      if (!present) continue;
      const key = document.createElement("i");
      key.className = kind;
      const entry = document.createElement("span");
      entry.append(key, say(text));
      extra.append(entry);
    }
    return extra;
  }

  function draw(figure, width) {
    const chart = charts.find((each) => each.id === figure.dataset.chart);
    if (!chart) return;
    const place = figure.querySelector(".plot");
    plots.get(figure)?.destroy();
    place.replaceChildren();
    const colours = chart.series.map((series, index) => colour("--c" + (index % SERIES_COLOURS)));
    const data = uPlot.join(chart.series.map((series) => [series.x, series.y]));
    plots.set(figure, new uPlot(options(chart, width ?? place.clientWidth, colours, data), data, place));
    place.append(extraLegend(chart));
    place.setAttribute("aria-label", [say(chart.title), ...chart.series.map((series) => say(series.name))].join(", "));
  }

  function drawAll() {
    for (const figure of document.querySelectorAll(".chart")) draw(figure);
  }

  // The arrow keys walk through the points of a chart that has the focus.
  function walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const plot = plots.get(event.target.closest?.(".chart"));
    if (!step || !plot) return;
    event.preventDefault();
    const last = plot.data[0].length - 1;
    const from = plot.cursor.idx ?? (step > 0 ? -1 : last + 1);
    const index = Math.min(Math.max(from + step, 0), last);
    plot.setCursor({ left: plot.valToPos(plot.data[0][index], "x"), top: 0 });
  }

  // language, colours, size, paper

  function setLanguage(name) {
    root.dataset.language = name;
    root.lang = name === "zh" ? "zh-Hans" : "en";
    const title = document.querySelector(`h1 [lang="${root.lang}"]`) ?? document.querySelector("h1");
    document.title = title.textContent;
    drawAll();
  }

  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  let chosenTheme = null;
  function setTheme() {
    root.dataset.theme = chosenTheme ?? (systemDark.matches ? "dark" : "light");
  }

  document.getElementById("language").addEventListener("click", () => setLanguage(language() === "zh" ? "en" : "zh"));
  document.getElementById("theme").addEventListener("click", () => {
    chosenTheme = root.dataset.theme === "dark" ? "light" : "dark";
    setTheme();
    drawAll();
  });
  systemDark.addEventListener("change", () => { setTheme(); drawAll(); });
  document.addEventListener("keydown", walk);

  let pageWidth = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === pageWidth) return;
    pageWidth = innerWidth;
    drawAll();
  });

  const PAPER_COLUMN = 328;
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
    root.dataset.theme = "light";
    for (const figure of document.querySelectorAll(".chart")) {
      draw(figure, figure.classList.contains("wide") ? 2 * PAPER_COLUMN + 24 : PAPER_COLUMN);
    }
  });
  addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
    setTheme();
    drawAll();
  });

  setTheme();
  drawAll();
})();
