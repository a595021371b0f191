//! Fits the straight line through medians over the length of a chain, and measures the distance of
//! the medians from the line and the power with which the medians grow.

/// A least-squares line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The increase of y per step of x.
    pub slope: f64,
    /// The value at x = 0.
    pub intercept: f64,
    /// The part of the variation that the line explains; 1 means all of the variation.
    pub r_squared: f64,
    /// The largest distance of a point from the line, in percent of the line's value there.
    pub worst_deviation_percent: f64,
}

impl Line {
    /// Fits a line through these points; returns `None` if there are fewer than three points, or if
    /// all points have the same x.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let products =
            |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
        let (xx, xy, yy) =
            (products(&|x, _| x * x), products(&|x, y| x * y), products(&|_, y| y * y));
        if points.len() < 3 || xx == 0.0 {
            return None;
        }
        let (slope, intercept) = (xy / xx, y - xy / xx * x);
        let deviation = |(x, y): &(f64, f64)| {
            let expected = intercept + slope * x;
            ((y - expected) * 100.0 / expected).abs()
        };
        let digits = |value: f64, scale: f64| (value * scale).round() / scale;
        Some(Self {
            slope: digits(slope, 1e3),
            intercept: digits(intercept, 1e3),
            r_squared: digits(if yy == 0.0 { 1.0 } else { xy * xy / (xx * yy) }, 1e5),
            worst_deviation_percent: digits(points.iter().map(deviation).fold(0.0, f64::max), 1e2),
        })
    }
}

/// The power with which y grows from the first point on: k in y - y0 = c (x - x0)^k, by least
/// squares of the logarithms. 1 is a straight line and 2 a square, no matter where the line begins.
///
/// Returns `None` if there are fewer than three points, or if y does not rise above the first
/// point. The points are in the order of x.
pub fn growth_exponent(points: &[(f64, f64)]) -> Option<f64> {
    let (&(x0, y0), further) = points.split_first()?;
    let logs = further.iter().map(|(x, y)| {
        let (run, rise) = (x - x0, y - y0);
        (run > 0.0 && rise > 0.0).then(|| (run.ln(), rise.ln()))
    });
    slope(&logs.collect::<Option<Vec<(f64, f64)>>>().filter(|logs| logs.len() >= 2)?)
}

/// The power with which y grows with x: k in y = c x^k, by least squares of the logarithms. 1 is a
/// straight line through zero and 2 a square.
///
/// Returns `None` if there are fewer than three points, if a coordinate is not above zero, or if
/// all points have the same x.
pub fn power_law(points: &[(f64, f64)]) -> Option<f64> {
    let logs = points.iter().map(|(x, y)| (*x > 0.0 && *y > 0.0).then(|| (x.ln(), y.ln())));
    slope(&logs.collect::<Option<Vec<(f64, f64)>>>().filter(|logs| logs.len() >= 3)?)
}

/// The slope of the least-squares line; `None` if all points have the same x.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let xx = points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
    let xy = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>();
    (xx > 0.0).then(|| xy / xx)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_power_of_growth_is_found_wherever_the_line_begins() {
        let grows = |power: i32| -> Vec<(f64, f64)> {
            (1..=20).map(|x| (f64::from(x), 7.0 + f64::from(x - 1).powi(power))).collect()
        };
        for power in [1, 2, 3] {
            let found = growth_exponent(&grows(power)).unwrap();
            assert!((found - f64::from(power)).abs() < 1e-9, "{power}: {found}");
        }
        // These three points are 99.8 % of a straight line, and yet grow faster than one.
        let bent = [(1.0, 24.0), (5.0, 51.6), (20.0, 186.6)];
        assert!(Line::through(&bent).unwrap().r_squared > 0.99);
        assert!((growth_exponent(&bent).unwrap() - 1.138).abs() < 1e-3);
        assert_eq!(growth_exponent(&bent[..2]), None);
        assert_eq!(growth_exponent(&[(1.0, 5.0), (2.0, 6.0), (3.0, 5.0)]), None);
        assert_eq!(growth_exponent(&[]), None);
    }

    #[test]
    fn the_power_of_a_law_through_zero_is_found() {
        let sizes = [25.0, 50.0, 100.0, 200.0, 400.0];
        let grows = |of: &dyn Fn(f64) -> f64| sizes.map(|n| (n, of(n)));
        for power in [0.0, 1.0, 2.0, 4.5] {
            let found = power_law(&grows(&|n| 3.0 * n.powf(power))).unwrap();
            assert!((found - power).abs() < 1e-9, "{power}: {found}");
        }
        // n log n is a little more than a straight line, and far less than a square.
        let found = power_law(&grows(&|n| n * n.ln())).unwrap();
        assert!((1.2..1.25).contains(&found), "{found}");
        // A sum of a large linear and a small quadratic part lies between the two.
        let found = power_law(&grows(&|n| 100.0 * n + n * n)).unwrap();
        assert!((1.3..1.8).contains(&found), "{found}");
        assert_eq!(power_law(&grows(&|n| n)[..2]), None, "two points say nothing");
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]), None);
        assert_eq!(power_law(&[(0.0, 1.0), (2.0, 2.0), (3.0, 1.0)]), None);
        assert_eq!(power_law(&[(2.0, 1.0), (2.0, 2.0), (2.0, 3.0)]), None);
        assert_eq!(power_law(&[(f64::NAN, 1.0), (2.0, 2.0), (3.0, 3.0)]), None);
    }

    #[test]
    fn points_on_a_line_are_on_it() {
        let line = Line::through(&[(2.0, 25.0), (4.0, 45.0), (9.0, 95.0)]).unwrap();
        let wanted =
            Line { slope: 10.0, intercept: 5.0, r_squared: 1.0, worst_deviation_percent: 0.0 };
        assert_eq!(line, wanted);
    }

    #[test]
    fn faster_growth_than_a_line_is_detected() {
        let squares: Vec<_> = (1..=20).map(|x| (f64::from(x), f64::from(x * x))).collect();
        let line = Line::through(&squares).unwrap();
        assert!(line.r_squared < 0.97 && line.worst_deviation_percent > 30.0, "{line:?}");
    }

    #[test]
    fn two_points_say_nothing() {
        assert_eq!(Line::through(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(Line::through(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
