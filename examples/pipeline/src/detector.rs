//! The detector: finds the bright spot in an image, and computes its position on the floor.

use feros::msgs::geometry_msgs::msg::{Point, PointStamped};
use feros::msgs::sensor_msgs::msg::{Image, ImageView};
use feros::msgs::std_msgs::msg::Header;
use feros::{Context, Error, Node, NodeOptions, QosProfile, View};
use feros_component::{Component, register};

use crate::ROBOT_FRAME;
use crate::input_report::ReportedInput;

/// Takes `image`, reads it without a copy, and publishes `detection` for each image that has a
/// spot.
pub struct Detector {
    node: Node,
    _images: ReportedInput<Image>,
}

impl Component for Detector {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("detector"))?;
        let threshold = node
            .build_parameter("threshold", 128)
            .description("Pixels brighter than this belong to the spot")
            .range(0..=254)
            .declare()?;
        let metres_per_pixel =
            node.build_parameter("metres_per_pixel", 0.01).range(1e-6..=1.0).declare()?;
        let detections = node.create_publisher::<PointStamped>("detection", 10)?;
        let images = node.create_subscription(
            "image",
            QosProfile::sensor_data(),
            move |image: View<Image>| {
                let image = image.get();
                if image.encoding != "mono8" {
                    tracing::error!(
                        "an image is encoded as {:?}, but only mono8 can be read",
                        image.encoding
                    );
                    return;
                }
                let threshold = u8::try_from(threshold.get()).unwrap_or(u8::MAX);
                let Some(pixel) = centre_of_bright(&image, threshold) else { return };
                let detection = PointStamped {
                    header: Header {
                        stamp: image.header.stamp.clone(),
                        frame_id: ROBOT_FRAME.to_owned(),
                    },
                    point: on_floor(pixel, &image, metres_per_pixel.get()),
                };
                if let Err(error) = detections.publish(detection) {
                    tracing::error!("{error}");
                }
            },
        )?;
        Ok(Self { _images: ReportedInput::new(&node, images)?, node })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The mean position of the pixels that are brighter than `threshold`, in pixels from the upper
/// left corner.
fn centre_of_bright(image: &ImageView<'_>, threshold: u8) -> Option<(f64, f64)> {
    let (width, step) = (image.width as usize, image.step as usize);
    if width == 0 || step < width {
        return None;
    }
    let (mut count, mut columns, mut rows) = (0_u64, 0_u64, 0_u64);
    for (row, line) in image.data.chunks_exact(step).take(image.height as usize).enumerate() {
        for (column, brightness) in line[..width].iter().enumerate() {
            if *brightness > threshold {
                count += 1;
                columns += column as u64;
                rows += row as u64;
            }
        }
    }
    let mean = |sum: u64| sum as f64 / count as f64 + 0.5;
    (count > 0).then(|| (mean(columns), mean(rows)))
}

/// The camera looks straight down; the robot stands below the middle of the image's lower edge.
fn on_floor((column, row): (f64, f64), image: &ImageView<'_>, metres_per_pixel: f64) -> Point {
    Point {
        x: (f64::from(image.height) - row) * metres_per_pixel,
        y: (f64::from(image.width) / 2.0 - column) * metres_per_pixel,
        z: 0.0,
    }
}

register!(Detector, "pipeline::Detector");

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use feros::message::{to_vec, view};

    use super::*;

    /// Calls `look` with a received image and returns its result.
    fn seen<R>(sides: (u32, u32, u32), data: &[u8], look: impl FnOnce(&ImageView<'_>) -> R) -> R {
        let (width, height, step) = sides;
        let image = Image { width, height, step, data: data.to_vec(), ..Image::default() };
        look(&view::<Image>(&to_vec(&image).unwrap()).unwrap())
    }

    #[test]
    fn the_middle_of_the_bright_pixels_is_found_and_padding_is_not_looked_at() {
        let data = [0, 0, 0, 255, 0, 200, 200, 255, 0, 200, 200, 255];
        seen((3, 3, 4), &data, |image| {
            assert_eq!(centre_of_bright(image, 100), Some((2.0, 2.0)));
            assert_eq!(centre_of_bright(image, 250), None);
            let point = on_floor((2.0, 2.0), image, 0.1);
            assert!((point.x - 0.1).abs() < 1e-12 && (point.y + 0.05).abs() < 1e-12, "{point:?}");
        });
    }

    #[test]
    fn images_that_contradict_themselves_have_no_spot() {
        for sides in [(0, 2, 2), (4, 1, 2), (9, 9, 9), (2, 0, 2), (u32::MAX, 1, u32::MAX)] {
            assert_eq!(
                seen(sides, &[255; 4], |image| centre_of_bright(image, 1)),
                None,
                "{sides:?}"
            );
        }
    }
}
