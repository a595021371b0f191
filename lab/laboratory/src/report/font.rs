//! The font embedded in a page, so that text has the width that the layout of figures assumes on
//! every machine, no matter which fonts are installed. It is Inter, with Latin letters and all
//! weights; its licence is in the same folder.

use base64::Engine as _;
use maud::{Markup, PreEscaped, html};

const FONT: &[u8] = include_bytes!("inter.woff2");

/// The size of the figures' text in pixels, as in `style.css`.
const SIZE: f64 = 11.5;

/// The widths of the characters from the space to `~`, in thousandths of the size, at weight 400,
/// with digits of equal width.
#[rustfmt::skip]
const ADVANCES: [u16; 95] = [
    269, 288, 466, 648, 648, 982, 644, 300, 391, 391, 648, 648, 269, 648, 269, 360,
    648, 648, 648, 648, 648, 648, 648, 648, 648, 648, 269, 269, 648, 648, 648, 511,
    966, 690, 654, 730, 722, 601, 590, 746, 743, 269, 571, 672, 565, 903, 753, 765,
    639, 765, 644, 642, 646, 744, 690, 985, 682, 679, 629, 391, 360, 391, 471, 456,
    323, 562, 612, 571, 612, 583, 370, 613, 591, 242, 242, 549, 242, 876, 591, 600,
    612, 612, 376, 528, 327, 591, 562, 818, 546, 562, 552, 391, 333, 391, 648,
];

/// The width assumed for characters that are not in the table, such as `µ`, `×` and the ellipsis:
/// the width of the widest such character.
const OTHER: u16 = 864;

/// The rule of the style sheet that contains the font.
pub(crate) fn face() -> Markup {
    let font = base64::engine::general_purpose::STANDARD.encode(FONT);
    html! { style { (PreEscaped(format!(
        "@font-face {{ font-family: \"Inter\"; font-weight: 100 900; src: url(data:font/woff2;base64,{font}) format(\"woff2\"); }}"
    ))) } }
}

/// The width of a text in a figure.
pub(crate) fn width(text: &str) -> f64 {
    let advance = |letter: char| {
        let index = (letter as usize).checked_sub(usize::from(b' '));
        index.and_then(|index| ADVANCES.get(index)).copied().unwrap_or(OTHER)
    };
    text.chars().map(|letter| f64::from(advance(letter))).sum::<f64>() * SIZE / 1000.0
}
