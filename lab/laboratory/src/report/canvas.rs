//! The common parts of figures: a frame with axes, grid, ticks and the limit line, with a
//! description for people who cannot see it.

use maud::{Markup, html};

use super::font;
use super::quantity::Unit;
use super::scale::Scale;

/// The drawing area within an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    pub(crate) fn x(&self, share: f64) -> f64 {
        self.left + share.clamp(0.0, 1.0) * (self.width - self.left - self.right)
    }

    pub(crate) fn y(&self, share: f64) -> f64 {
        self.height - self.bottom - share.clamp(0.0, 1.0) * (self.height - self.top - self.bottom)
    }

    pub(crate) fn inner_width(&self) -> f64 {
        self.width - self.left - self.right
    }

    fn base(&self) -> f64 {
        self.height - self.bottom
    }

    /// Makes an image of this size, with a name and a description.
    pub(crate) fn image(
        &self,
        class: &str,
        title: &str,
        description: &str,
        content: &Markup,
    ) -> Markup {
        html! {
            svg class={ "plot " (class) } viewBox={ "0 0 " (self.width) " " (self.height) } role="img"
                aria-label={ (title) ". " (description) } style={ "--w:" (self.width) } {
                title { (title) }
                desc { (description) }
                (content)
            }
        }
    }

    /// Draws horizontal grid lines with their numbers on the left, and the title of the axis.
    pub(crate) fn vertical_axis(&self, scale: &Scale, unit: Unit, title: &str) -> Markup {
        let (start, end) = (self.x(0.0), self.x(1.0));
        html! {
            g class="axis" {
                @for (number, text) in scale.ticks(unit, 6) {
                    @let y = self.y(scale.at(number));
                    path class="grid" d={ "M" (px(start)) " " (px(y)) "H" (px(end)) } {}
                    text x=(px(start - 6.0)) y=(px(y + 3.8)) text-anchor="end" { (text) }
                }
                path class="base" d={ "M" (px(start)) " " (px(self.base())) "H" (px(end)) } {}
                text class="name" x="2" y=(px(self.top - 8.0)) { (title) }
            }
        }
    }

    /// Draws ticks with their labels below; labels that would touch another label are left out.
    pub(crate) fn horizontal_axis(
        &self,
        marks: &[(f64, String)],
        title: &str,
        grid: bool,
    ) -> Markup {
        let mut free_from = f64::NEG_INFINITY;
        let mut shown = Vec::new();
        for (share, text) in marks {
            let (x, half) = (self.x(*share), font::width(text) / 2.0 + 4.0);
            if x - half >= free_from {
                free_from = x + half;
                shown.push((x, text));
            }
        }
        let base = self.base();
        html! {
            g class="axis" {
                @for (x, text) in shown {
                    @if grid { path class="grid" d={ "M" (px(x)) " " (px(self.top)) "V" (px(base)) } {} }
                    path class="tick" d={ "M" (px(x)) " " (px(base)) "v4" } {}
                    text x=(px(x)) y=(px(base + 16.0)) text-anchor="middle" { (text) }
                }
                text class="name" x=(px(self.x(1.0))) y=(px(base + 32.0)) text-anchor="end" { (title) }
            }
        }
    }
}

/// Formats a coordinate: a tenth of a pixel is enough.
pub(crate) fn px(number: f64) -> String {
    let text = format!("{:.1}", if number.is_finite() { number } else { 0.0 });
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Shortens a text to fit, with an ellipsis where it is cut.
pub(crate) fn fitting(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{kept}…")
}
