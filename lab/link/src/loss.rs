//! Decides which packets are lost: each independently, or in bursts (Gilbert-Elliott).

/// A model with two states: in the good state no packet is lost, and in the bad state every packet
/// is lost.
#[derive(Debug)]
pub(crate) struct Loss {
    bad: Option<bool>, // `None` before the first packet
}

impl Loss {
    pub(crate) fn new() -> Self {
        Loss { bad: None }
    }

    /// Decides whether the next packet is lost; `draw` is a random number, evenly distributed in
    /// 0..1.
    ///
    /// With bursts of mean length b, the bad state ends with probability 1/b after each packet; it
    /// begins with such a probability that the share `loss` of all packets falls into it. The first
    /// packet meets the bad state with probability `loss`, like any other packet.
    pub(crate) fn next(&mut self, loss: f64, burst: Option<f64>, draw: f64) -> bool {
        let Some(burst) = burst else {
            let lost = draw < loss;
            self.bad = Some(lost);
            return lost;
        };
        let bad = match self.bad {
            None => draw < loss,
            Some(_) if loss >= 1.0 => true,
            Some(true) => draw >= 1.0 / burst,
            Some(false) => draw < loss / ((1.0 - loss) * burst),
        };
        self.bad = Some(bad);
        bad
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// The lost share of `packets`, and the mean number of packets lost in a row.
    fn measured(loss: f64, burst: Option<f64>, packets: u32) -> (f64, f64) {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let mut model = Loss::new();
        let (mut lost, mut bursts, mut before) = (0u32, 0u32, false);
        for _ in 0..packets {
            let now = model.next(loss, burst, random.random());
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (f64::from(lost) / f64::from(packets), f64::from(lost) / f64::from(bursts))
    }

    #[test]
    fn independent_losses() {
        for loss in [0.01, 0.1, 0.4, 0.9] {
            let (share, length) = measured(loss, None, 1_000_000);
            assert!((share / loss - 1.0).abs() < 0.05, "{share} of {loss}");
            let expected = 1.0 / (1.0 - loss);
            assert!(
                (length / expected - 1.0).abs() < 0.02,
                "{length} in a row, {expected} expected"
            );
        }
    }

    #[test]
    fn bursts_have_the_asked_length_and_share() {
        for (loss, burst) in [(0.01, 2.0), (0.1, 5.0), (0.3, 20.0), (0.5, 1.0), (0.9, 10.0)] {
            let (share, length) = measured(loss, Some(burst), 4_000_000);
            assert!((share / loss - 1.0).abs() < 0.05, "{share} of {loss}");
            assert!((length / burst - 1.0).abs() < 0.03, "{length} in a row, {burst} asked");
        }
    }

    #[test]
    fn none_and_all() {
        for burst in [None, Some(1.0), Some(8.0)] {
            let mut model = Loss::new();
            assert!((0..1000).all(|n| !model.next(0.0, burst, f64::from(n) / 1000.0)));
            let mut model = Loss::new();
            assert!((0..1000).all(|n| model.next(1.0, burst, f64::from(n) / 1000.0)));
        }
    }
}
