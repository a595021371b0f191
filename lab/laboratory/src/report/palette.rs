//! The colour, marker and dash of each system, the same in every figure of a report.
//!
//! Each peer has a hue and a marker shape. Its configurations share both, and differ in dash and
//! filling. Colour-blind people can distinguish the hues, and colour is never the only difference.

use maud::{Markup, html};

use super::floors::is_floor;
use crate::record::{Run, Value};

/// The colours that `style.css` names `--h0`, `--h1`, ...
const HUES: usize = 10;
/// The number of shapes that [`marker_path`] can draw.
const SHAPES: usize = 8;

/// The colour, shape and dash of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ink {
    hue: usize,
    shape: usize,
    variant: usize,
}

/// The inks (colour, shape and dash) of a run's systems.
pub(crate) struct Palette {
    systems: Vec<(String, Ink)>,
}

impl Palette {
    pub(crate) fn of(run: &Run) -> Self {
        let mut peers: Vec<(&str, usize)> = Vec::new();
        // Limits, and systems that could not be measured, have no colour.
        let measured =
            run.systems.iter().filter(|system| system.missing.is_none() && !is_floor(&system.name));
        let inks = measured.map(|system| {
            let peer = system.name.split(':').next().unwrap_or(&system.name);
            let place = peers.iter().position(|(known, _)| *known == peer).unwrap_or_else(|| {
                peers.push((peer, 0));
                peers.len() - 1
            });
            let variant = peers[place].1;
            peers[place].1 += 1;
            (
                system.name.clone(),
                Ink { hue: place % HUES, shape: place % SHAPES, variant: variant % 4 },
            )
        });
        Self { systems: inks.collect() }
    }

    /// The ink of a value of a dimension: systems have fixed inks, other values get an ink by their
    /// index.
    pub(crate) fn ink(&self, dimension: &str, value: Option<&Value>, index: usize) -> Ink {
        let of_system = match (dimension, value) {
            ("system", Some(Value::Text(name))) => {
                self.systems.iter().find(|(known, _)| known == name).map(|(_, ink)| *ink)
            }
            _ => None,
        };
        of_system.unwrap_or_else(|| Ink::counted(index))
    }
}

impl Ink {
    /// The ink for an index.
    pub(crate) fn counted(index: usize) -> Self {
        Self { hue: index % HUES, shape: index % SHAPES, variant: index / HUES % 4 }
    }

    /// The classes in `style.css`.
    pub(crate) fn class(self) -> String {
        format!("ink h{} v{}", self.hue, self.variant)
    }

    /// A marker around a point.
    pub(crate) fn marker(self, x: f64, y: f64, size: f64) -> Markup {
        html! { path class="mark" d=(marker_path(self.shape, x, y, size)) {} }
    }

    /// A piece of line with its marker, for legends.
    pub(crate) fn swatch(self) -> Markup {
        html! {
            svg class={ "swatch " (self.class()) } viewBox="0 0 28 12" width="28" height="12" aria-hidden="true" {
                path class="line" d="M1 6H27" {} (self.marker(14.0, 6.0, 3.6))
            }
        }
    }

    /// A filled square, for legends of areas.
    pub(crate) fn block(self) -> Markup {
        html! {
            svg class={ "swatch " (self.class()) } viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" {
                rect class="fill" x="1" y="1" width="10" height="10" rx="1.5" {}
            }
        }
    }
}

fn marker_path(shape: usize, x: f64, y: f64, r: f64) -> String {
    let polygon = |points: &[(f64, f64)]| {
        let corners: Vec<String> =
            points.iter().map(|(dx, dy)| format!("{:.1} {:.1}", x + dx * r, y + dy * r)).collect();
        format!("M{}Z", corners.join("L"))
    };
    match shape {
        0 => format!(
            "M{:.1} {y:.1}a{r:.1} {r:.1} 0 1 0 {:.1} 0a{r:.1} {r:.1} 0 1 0 {:.1} 0Z",
            x - r,
            2.0 * r,
            -2.0 * r
        ),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
        5 => polygon(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
        6 => polygon(&[(0.0, -1.2), (1.15, -0.35), (0.7, 1.0), (-0.7, 1.0), (-1.15, -0.35)]),
        _ => polygon(&[(-1.15, 0.0), (0.85, -1.1), (0.85, 1.1)]),
    }
}
