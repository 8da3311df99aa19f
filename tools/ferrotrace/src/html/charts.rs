// SPDX-License-Identifier: MIT OR Apache-2.0

//! Draws charts as SVG elements that are part of the page.
//!
//! The style sheet of the page replaces the colors, so that they fit to its background.

use std::ops::Range;

use anyhow::Context;
use hdrhistogram::Histogram;
use plotters::{
    coord::ranged1d::{
        KeyPointHint,
        NoDefaultFormatting,
        Ranged,
        ValueFormatter, //
    },
    prelude::{
        AreaSeries,
        ChartBuilder,
        IntoDrawingArea,
        IntoFont,
        IntoLogRange,
        PathElement,
        RGBColor,
        Rectangle,
        SVGBackend, //
    },
    style::Color,
};

use super::{
    series::Series,
    text::Short, //
};

/// The colors of the style sheet, by their meanings.
const RUN: RGBColor = RGBColor(0x2e, 0x8b, 0x57);
const WAIT: RGBColor = RGBColor(0xe0, 0x9b, 0x14);
const BLOCK: RGBColor = RGBColor(0x76, 0x84, 0xb8);
const TEXT: RGBColor = RGBColor(0x55, 0x55, 0x55);
const LINE: RGBColor = RGBColor(0xcc, 0xcc, 0xcc);
const BAR: RGBColor = RGBColor(0x44, 0x77, 0xaa);

/// The size of a chart over time.
const OVER_TIME: (u32, u32) = (1040, 130);
/// The size of a histogram.
const HISTOGRAM: (u32, u32) = (330, 58);
/// The number of bars of a histogram for each factor of ten.
const PER_DECADE: f64 = 8.0;
const FONT: f64 = 13.0;

/// A moment in a chart over time.
pub struct Moment {
    /// The time in ns since the beginning of the recording.
    pub at: u64,
    /// The text that is shown if the pointer is on the line.
    pub title: String,
}

/// Draws run, wait and block as parts of the time, over the time of the recording, `span` ns, with
/// lines at `moments`.
///
/// # Errors
///
/// If the chart cannot be drawn.
pub fn over_time(
    series: &Series,
    span: u64,
    moments: &[Moment],
    label: &str,
) -> anyhow::Result<String> {
    let (width, first, buckets) = series.clone().fit(span);
    // The last bucket is as long as the recording.
    let length = |number: usize| {
        let start = number as u64 * width;
        span.saturating_sub(start).clamp(1, width) as f64
    };
    // Two points for each bucket make steps of them.
    let steps = |part: fn(f64, f64, f64) -> f64| {
        let buckets = buckets.iter().enumerate();
        buckets.flat_map(move |(offset, sum)| {
            let number = first + offset;
            let share = |ns: u64| ns as f64 / length(number);
            let value = part(share(sum.run), share(sum.wait), share(sum.block)).min(1.0);
            let start = (number as u64 * width) as f64;
            [(start, value), (start + length(number), value)]
        })
    };
    let mut svg = String::new();
    let mut lines = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, OVER_TIME).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin_top(8)
            .margin_right(14)
            .x_label_area_size(22)
            .y_label_area_size(46)
            .build_cartesian_2d(Time(0.0..span.max(1) as f64), 0.0..1.0)?;
        let font = ("sans-serif", FONT).into_font().color(&TEXT);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .axis_style(LINE)
            .bold_line_style(LINE)
            .light_line_style(plotters::style::TRANSPARENT)
            .label_style(font)
            .x_labels(11)
            .y_labels(3)
            .y_label_formatter(&|value| format!("{:.0} %", value * 100.0))
            .draw()?;
        // Each area is drawn over the larger one: what remains visible are the parts.
        chart.draw_series(AreaSeries::new(
            steps(|r, w, b| r + w + b),
            0.0,
            BLOCK.filled(),
        ))?;
        chart.draw_series(AreaSeries::new(steps(|r, w, _| r + w), 0.0, WAIT.filled()))?;
        chart.draw_series(AreaSeries::new(steps(|r, _, _| r), 0.0, RUN.filled()))?;
        for moment in moments {
            let at = moment.at.min(span) as f64;
            let (x, top) = chart.backend_coord(&(at, 1.0));
            let (_, bottom) = chart.backend_coord(&(at, 0.0));
            lines.push_str(&line(x, top..bottom, &moment.title)?);
        }
        root.present()?;
    }
    let end = svg.rfind("</svg>").context("the chart has no end")?;
    svg.insert_str(end, &lines);
    element(&svg, OVER_TIME, label)
}

/// Returns a vertical line with a title, which plotters cannot draw.
fn line(x: i32, y: Range<i32>, title: &str) -> anyhow::Result<String> {
    let Range { start, end } = y;
    let title = askama::filters::escape(title, askama::filters::Html)?;
    Ok(format!(
        "<line class=\"trigger\" x1=\"{x}\" y1=\"{start}\" x2=\"{x}\" y2=\"{end}\">\
         <title>{title}</title></line>\n"
    ))
}

/// Draws how frequent durations of calls are, from `range.start` to `range.end` ns on a logarithmic
/// axis, with lines at the quantiles `marks`.
///
/// # Errors
///
/// If the chart cannot be drawn.
pub fn histogram(
    durations: &Histogram<u32>,
    range: &Range<u64>,
    marks: &[u64],
    label: &str,
) -> anyhow::Result<String> {
    let bin = |ns: u64| ((ns.max(1) as f64).log10() * PER_DECADE).floor();
    let edge = |bin: f64| 10_f64.powf(bin / PER_DECADE);
    let first = bin(range.start);
    let mut bins: Vec<u64> = Vec::new();
    for value in durations.iter_recorded() {
        // Bins begin at the smallest duration, so the difference is not negative.
        let at = (bin(value.value_iterated_to()) - first).max(0.0) as usize;
        if bins.len() <= at {
            bins.resize(at + 1, 0);
        }
        bins[at] += value.count_since_last_iteration();
    }
    let highest = bins.iter().copied().max().unwrap_or(0).max(1) as f64;
    let (start, end) = (edge(first), edge(bin(range.end) + 1.0));
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, HISTOGRAM).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin_top(2)
            .margin_left(14)
            .margin_right(22)
            .x_label_area_size(18)
            .build_cartesian_2d((start..end).log_scale(), 0.0..1.0)?;
        let font = ("sans-serif", FONT).into_font().color(&TEXT);
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(LINE)
            .label_style(font)
            .x_labels(6)
            .x_label_formatter(&|ns| decade(*ns))
            .draw()?;
        let bars = bins.iter().enumerate().filter(|(_, count)| **count != 0);
        chart.draw_series(bars.map(|(at, count)| {
            let from = first + at as f64;
            // A single call must be visible.
            let height = (*count as f64 / highest).max(0.05);
            Rectangle::new(
                [(edge(from), 0.0), (edge(from + 1.0), height)],
                BAR.filled(),
            )
        }))?;
        chart.draw_series(marks.iter().map(|mark| {
            let at = (*mark as f64).clamp(start, end);
            PathElement::new(vec![(at, 0.0), (at, 1.0)], TEXT.stroke_width(1))
        }))?;
        root.present()?;
    }
    element(&svg, HISTOGRAM, label)
}

/// Returns the label at a power of ten: `10 us`.
fn decade(ns: f64) -> String {
    let text = Short(ns.round() as u64).to_string();
    text.replace(".00 ", " ").replace(".0 ", " ")
}

/// Turns a file of plotters into an element of a page: it scales, has a name for screen readers,
/// and no namespace, which would be an address.
fn element(svg: &str, (width, height): (u32, u32), label: &str) -> anyhow::Result<String> {
    let (_, content) = svg.split_once('>').context("the chart is empty")?;
    let label = askama::filters::escape(label, askama::filters::Html)?;
    Ok(format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{content}"
    ))
}

/// An axis of times in ns with labels at multiples of 1, 2 or 5 of a unit.
struct Time(Range<f64>);

impl Ranged for Time {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let part = (value - self.0.start) / (self.0.end - self.0.start);
        from + (f64::from(to - from) * part).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        let most = hint.max_num_points().clamp(2, 12) as f64;
        let least = (self.0.end - self.0.start) / most;
        let decade = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
        let step = step.into_iter().find(|step| *step >= least);
        let step = step.unwrap_or(least);
        (0..)
            .map(|number| self.0.start + f64::from(number) * step)
            .take_while(|at| *at <= self.0.end)
            .collect()
    }

    fn range(&self) -> Range<f64> {
        self.0.clone()
    }
}

impl ValueFormatter<f64> for Time {
    fn format_ext(&self, value: &f64) -> String {
        let (unit, name) = match self.0.end {
            end if end >= 2e9 => (1e9, "s"),
            end if end >= 2e6 => (1e6, "ms"),
            _ => (1e3, "us"),
        };
        format!("{} {name}", (value / unit * 1000.0).round() / 1000.0)
    }
}
